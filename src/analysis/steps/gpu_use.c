#include "gpu_use.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/call_kinds.h"
#include "base/sums.h"
#include "timeline/metadata.h"
#include "timeline/trace.h"

/* Where a kernel begins or ends: what it adds to the blocks per multiprocessor, in millionths, so
 * that what was added is taken away again to the last bit. */
typedef struct edge {
    int64_t time_ns, millionths;
} edge;

typedef struct state {
    const tm_timeline *timeline;
    const tm_intervals *within;
    bool of_gpus;
    size_t last;  /* the interval of it that was met last: mostly the next event lies in it, too */
    tm_vec edges; /* of edge */
} state;

/* The part of [begin, end) that lies in the given time. Most lie whole in the interval that was met
 * last or in the next; for the others the place is looked for from the front. */
static int64_t inside(state *s, int64_t begin_ns, int64_t end_ns) {
    const tm_interval *v = s->within->data;
    for (size_t i = s->last; i < s->within->n && i < s->last + 2; i++)
        if (v[i].begin_ns <= begin_ns && end_ns <= v[i].end_ns) {
            s->last = i;
            return end_ns - begin_ns;
        }
    s->last = 0;
    while (s->last < s->within->n && v[s->last].end_ns <= begin_ns)
        s->last++;
    return tm_intervals_length_in(s->within, begin_ns, end_ns);
}

/* Appends an edge, behind which few of the same stream may stand already: kernels that begin before
 * the one before them has ended. */
static bool add_edge(tm_vec *edges, int64_t time_ns, int64_t millionths) {
    /* Only so far: sort_edges mends the rest. */
    enum { NEAR = 4 };
    if (!tm_vec_push(edges))
        return false;
    edge *e = edges->data;
    size_t at = edges->n - 1, last = at > NEAR ? at - NEAR : 0;
    for (; at > last && e[at - 1].time_ns > time_ns; at--)
        e[at] = e[at - 1];
    e[at] = (edge){time_ns, millionths};
    return true;
}

static bool add_edges(state *s, const tm_kernel_attr *kernel) {
    /* A launch of more than a million blocks on each multiprocessor fills it no better. */
    double blocks = (double)tm_kernel_shape(s->timeline, kernel)->blocks_per_sm;
    /* Rounded: of a float both the product and the sum are exact, as far as it matters. */
    int64_t millionths = (int64_t)((blocks < 1e6 ? blocks : 1e6) * 1e6 + 0.5);
    int64_t begin = s->timeline->begin_ns[kernel->event];
    int64_t end = begin + s->timeline->duration_ns[kernel->event];
    return add_edge(&s->edges, begin, millionths) && add_edge(&s->edges, end, -millionths);
}

/* Each figure is of the kernels that have it: a trace may tell occupancy and no blocks, or
 * neither. */
static bool add_kernel(state *s, tm_call_kinds *call_kinds, const tm_kernel_attr *kernel,
                       tm_gpu_use *out) {
    const tm_timeline *timeline = s->timeline;
    const tm_launch_shape *shape = tm_kernel_shape(timeline, kernel);
    int64_t begin = timeline->begin_ns[kernel->event];
    int64_t end = begin + timeline->duration_ns[kernel->event];
    int64_t time_ns = inside(s, begin, end);
    if (time_ns == 0)
        return true;
    out->kernel_ns = tm_sum(out->kernel_ns, time_ns);
    if (!isnan(shape->occupancy_pct)) {
        out->occupied_ns = tm_sum(out->occupied_ns, time_ns);
        out->occupancy += (double)shape->occupancy_pct * (double)time_ns;
    }
    /* Communication uses no tensor cores, and would only make the share small. Of other devices
     * than GPUs names do not tell what uses such. */
    if (timeline->role[kernel->event] == TM_ROLE_COMPUTE && s->of_gpus) {
        out->compute_ns = tm_sum(out->compute_ns, time_ns);
        if (tm_call_kinds_kernel(call_kinds, timeline->name[kernel->event])->tensor_cores)
            out->tensor_ns = tm_sum(out->tensor_ns, time_ns);
    }
    if (!(shape->blocks_per_sm >= 0)) /* NaN: not recorded */
        return true;
    out->has_blocks = true;
    return add_edges(s, kernel);
}

/* Runs [low, middle) and [middle, high) become one in the same place of `to`. */
static void merge(const edge *from, edge *to, size_t low, size_t middle, size_t high) {
    size_t i = low, k = middle;
    for (size_t at = low; at < high; at++)
        to[at] =
            k == high || (i < middle && from[i].time_ns <= from[k].time_ns) ? from[i++] : from[k++];
}

/* Behind the ascending run that begins at `at`. */
static size_t run_end(const edge *edges, size_t at, size_t n) {
    while (at + 1 < n && edges[at].time_ns <= edges[at + 1].time_ns)
        at++;
    return at < n ? at + 1 : n;
}

/* Natural merge sort: the edges of a stream are one ascending run, nearly. */
static bool sort_edges(tm_vec *edges) {
    edge *spare = malloc((edges->n + 1) * sizeof *spare);
    bool sorted = edges->n < 2;
    while (spare && !sorted) {
        edge *from = edges->data;
        size_t n = edges->n, low = 0;
        while (low < n) {
            size_t middle = run_end(from, low, n);
            size_t high = middle < n ? run_end(from, middle, n) : n;
            /* One pair of runs made up all of it: this pass leaves one. */
            sorted = low == 0 && high == n;
            merge(from, spare, low, middle, high);
            low = high;
        }
        memcpy(from, spare, n * sizeof *from);
    }
    free(spare);
    return sorted;
}

/* Between two edges the same kernels run; those of one time, in whatever order, are added up
 * before. */
static double fill_of(state *s) {
    const edge *edges = s->edges.data;
    int64_t running = 0;
    double sum = 0;
    /* Behind the last edge nothing runs. */
    for (size_t i = 0; i + 1 < s->edges.n; i++) {
        running += edges[i].millionths;
        if (running == 0 || edges[i].time_ns == edges[i + 1].time_ns)
            continue;
        double filled = running < 1000000 ? (double)running / 1e6 : 1;
        sum += filled * (double)inside(s, edges[i].time_ns, edges[i + 1].time_ns);
    }
    return sum;
}

bool tm_gpu_use_find(const tm_rank_view *view, const tm_intervals *within, tm_gpu_use *out) {
    state s = {.timeline = view->timeline,
               .within = within,
               .of_gpus =
                   tm_trace_noted(tm_timeline_metadata(view->timeline), TM_DEVICE_KIND).size == 0,
               .edges = TM_VEC(edge)};
    const tm_kernel_attr *kernels = view->timeline->attrs[TM_ATTR_KERNEL];
    *out = (tm_gpu_use){0};
    bool ok = true;
    for (size_t i = 0; i < view->timeline->n_attrs[TM_ATTR_KERNEL] && ok; i++)
        if (view->timeline->role[kernels[i].event] != TM_ROLE_NONE)
            ok = add_kernel(&s, view->call_kinds, &kernels[i], out);
    ok = ok && sort_edges(&s.edges);
    if (ok)
        out->filled_ns = fill_of(&s);
    tm_vec_free(&s.edges);
    return ok;
}
