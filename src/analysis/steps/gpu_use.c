#include "gpu_use.h"

#include <math.h>

#include "analysis/shared/call_kinds.h"
#include "base/sums.h"
#include "timeline/metadata.h"
#include "timeline/trace.h"

/* The start or end of a kernel. `millionths` is the change in the number of blocks per
 * multiprocessor, in millionths. It is an integer, so that additions and subtractions cancel
 * exactly. */
typedef struct edge {
    int64_t time_ns, millionths;
    /* for a start: the kernel's stream, whose next kernel is then added; for an end: NO_STREAM */
    size_t stream;
} edge;

#define NO_STREAM SIZE_MAX

/* The kernels of a stream that are not yet added: rows [next, end) of TM_ATTR_KERNEL. */
typedef struct stream {
    size_t next, end;
} stream;

typedef struct state {
    const tm_timeline *timeline;
    const tm_intervals *within;
    bool of_gpus;
    /* index of the interval of `within` that was used last; the next event is mostly in the same
     * one */
    size_t last;
    tm_vec streams; /* vector of stream */
    /* vector of edge, latest first: the next start of each stream, and the ends of running
     * kernels */
    tm_vec edges;
} state;

/* Returns how much of [begin, end) is in `within` [ns]. First tries the interval that was used last
 * and the next one, which contain most events. */
static int64_t inside(state *s, int64_t begin_ns, int64_t end_ns) {
    const tm_interval *v = s->within->data;
    for (size_t i = s->last; i < s->within->n && i < s->last + 2; i++)
        if (v[i].begin_ns <= begin_ns && end_ns <= v[i].end_ns) {
            s->last = i;
            return end_ns - begin_ns;
        }
    s->last = tm_intervals_first_after(s->within, begin_ns);
    return tm_intervals_length_in(s->within, begin_ns, end_ns);
}

/* Adds a kernel to the sums of the figures that were recorded for it. */
static void add_kernel(state *s, tm_call_kinds *call_kinds, const tm_kernel_attr *kernel,
                       tm_gpu_use *out) {
    const tm_timeline *timeline = s->timeline;
    const tm_launch_shape *shape = tm_kernel_shape(timeline, kernel);
    int64_t begin = timeline->begin_ns[kernel->event];
    int64_t end = begin + timeline->duration_ns[kernel->event];
    int64_t time_ns = inside(s, begin, end);
    if (time_ns == 0)
        return;
    out->kernel_ns = tm_sum(out->kernel_ns, time_ns);
    if (!isnan(shape->occupancy_pct)) {
        out->occupied_ns = tm_sum(out->occupied_ns, time_ns);
        out->occupancy += (double)shape->occupancy_pct * (double)time_ns;
    }
    /* Communication does not use tensor cores, and kernel names of devices other than GPUs do not
     * show them. */
    if (timeline->role[kernel->event] == TM_ROLE_COMPUTE && s->of_gpus) {
        out->compute_ns = tm_sum(out->compute_ns, time_ns);
        if (tm_call_kinds_kernel(call_kinds, timeline->name[kernel->event])->tensor_cores)
            out->tensor_ns = tm_sum(out->tensor_ns, time_ns);
    }
    out->has_blocks |= shape->blocks_per_sm >= 0; /* false for NaN */
}

static bool find_streams(state *s) {
    const tm_timeline *timeline = s->timeline;
    const tm_kernel_attr *kernels = timeline->attrs[TM_ATTR_KERNEL];
    size_t n = timeline->n_attrs[TM_ATTR_KERNEL];
    for (size_t i = 0; i < n;) {
        const tm_track *track = tm_timeline_track(timeline, kernels[i].event);
        stream *found = tm_vec_push(&s->streams);
        if (!found)
            return false;
        found->next = i;
        while (i < n && kernels[i].event < track->first + track->count)
            i++;
        found->end = i;
    }
    return true;
}

static bool add_edge(tm_vec *edges, edge added) {
    if (!tm_vec_push(edges))
        return false;
    edge *e = edges->data;
    size_t at = edges->n - 1;
    for (; at > 0 && e[at - 1].time_ns < added.time_ns; at--)
        e[at] = e[at - 1];
    e[at] = added;
    return true;
}

/* Returns a kernel's blocks per multiprocessor, in millionths; -1 if the kernel does not count. */
static int64_t millionths_of(state *s, const tm_kernel_attr *kernel) {
    const tm_timeline *timeline = s->timeline;
    int64_t begin = timeline->begin_ns[kernel->event];
    double blocks = (double)tm_kernel_shape(timeline, kernel)->blocks_per_sm;
    if (timeline->role[kernel->event] == TM_ROLE_NONE || !(blocks >= 0) || /* NaN: not recorded */
        inside(s, begin, begin + timeline->duration_ns[kernel->event]) == 0)
        return -1;
    /* Limits the number of blocks to a million. The result is an integer, so that sums are
     * exact. */
    return (int64_t)((blocks < 1e6 ? blocks : 1e6) * 1e6 + 0.5);
}

/* Adds the start and the end of a stream's next kernel that counts. */
static bool add_edges(state *s, size_t number) {
    stream *its = (stream *)s->streams.data + number;
    const tm_kernel_attr *kernels = s->timeline->attrs[TM_ATTR_KERNEL];
    while (its->next < its->end) {
        const tm_kernel_attr *kernel = &kernels[its->next++];
        int64_t begin = s->timeline->begin_ns[kernel->event], millionths = millionths_of(s, kernel);
        int64_t end = begin + s->timeline->duration_ns[kernel->event];
        if (millionths >= 0)
            return add_edge(&s->edges, (edge){end, -millionths, NO_STREAM}) &&
                   add_edge(&s->edges, (edge){begin, millionths, number});
    }
    return true;
}

/* Integrates over time how full the multiprocessors are. All edges with equal times are added up
 * before the time until the next edge counts. */
static bool find_fill(state *s, double *sum) {
    bool ok = find_streams(s);
    for (size_t i = 0; i < s->streams.n && ok; i++)
        ok = add_edges(s, i);
    int64_t running = 0;
    *sum = 0;
    while (s->edges.n > 0 && ok) {
        const edge met = ((const edge *)s->edges.data)[--s->edges.n];
        running += met.millionths;
        ok = met.stream == NO_STREAM || add_edges(s, met.stream);
        const edge *next = (const edge *)s->edges.data + s->edges.n - 1;
        /* nothing runs after the last edge */
        if (running == 0 || s->edges.n == 0 || next->time_ns == met.time_ns)
            continue;
        double filled = running < 1000000 ? (double)running / 1e6 : 1;
        *sum += filled * (double)inside(s, met.time_ns, next->time_ns);
    }
    return ok;
}

bool tm_gpu_use_find(const tm_rank_view *view, const tm_intervals *within, tm_gpu_use *out) {
    state s = {.timeline = view->timeline,
               .within = within,
               .of_gpus =
                   tm_trace_noted(tm_timeline_metadata(view->timeline), TM_DEVICE_KIND).size == 0,
               .streams = TM_VEC(stream),
               .edges = TM_VEC(edge)};
    const tm_kernel_attr *kernels = view->timeline->attrs[TM_ATTR_KERNEL];
    *out = (tm_gpu_use){0};
    for (size_t i = 0; i < view->timeline->n_attrs[TM_ATTR_KERNEL]; i++)
        if (view->timeline->role[kernels[i].event] != TM_ROLE_NONE)
            add_kernel(&s, view->call_kinds, &kernels[i], out);
    bool ok = !out->has_blocks || find_fill(&s, &out->filled_ns);
    tm_vec_free(&s.streams);
    tm_vec_free(&s.edges);
    return ok;
}
