#include "sets.h"

#include <math.h>
#include <stdlib.h>

#include "base/keys.h"
#include "base/simd_lanes.h"
#include "base/sorted.h"

/* Returns weight @p ns, at most the recorded weight without its unexplained part @p over_ns. That
 * part can exceed the recorded weight if the edge is cut at the root. */
static int64_t explained(const tm_edge *edge, int64_t over_ns, int64_t ns) {
    const bool cut = edge->from == TM_FROM_ROOT && edge->ns < over_ns;
    const int64_t without = cut ? 0 : edge->ns - over_ns;
    return over_ns > 0 && without < ns ? without : ns;
}

/* Computes the changed weight, and the changed weight without unexplained time. */
static void change_edge(const tm_change *change, double factor, const tm_edge *edge,
                        int64_t over_ns, int64_t *ns) {
    factor = change->factors ? change->factors[edge->part - 1] : factor;
    if (factor == 0.0) {
        ns[0] = ns[1] = 0;
    } else if (isnan(factor) || isinf(factor)) {
        ns[0] = isnan(factor) ? edge->peer_ns : tm_edge_usual_ns(edge);
        ns[1] = explained(edge, over_ns, ns[0]);
    } else {
        ns[0] = llround((double)edge->ns * factor);
        ns[1] = llround((double)ns[1] * factor);
    }
}

void tm_sets_weigh(const void *context, const tm_graph *graph, uint32_t node, uint32_t edge,
                   int64_t *ns) {
    (void)context;
    const tm_edge *e = &graph->edges[edge];
    const bool transfer = e->kind == TM_EDGE_TRANSFER;
    const int64_t peer = transfer ? e->ns : e->peer_ns, over = tm_graph_over_ns(graph, node, e);
    ns[TM_SET_RECORDED] = e->ns;
    ns[TM_SET_RECORDED_EXPLAINED] = explained(e, over, e->ns);
    ns[TM_SET_PEER] = peer;
    ns[TM_SET_PEER_EXPLAINED] = explained(e, over, peer);
    ns[TM_SET_IDEAL] = tm_edge_usual_ns(e);
    ns[TM_SET_IDEAL_RECORDED] = transfer ? e->peer_ns : e->ns;
}

void tm_sets_init(tm_sets *sets, const tm_change *changes, size_t n) {
    *sets = (tm_sets){.changes = changes, .n = n};
    for (size_t i = 0; i < n; i++) {
        const uint64_t bit = UINT64_C(1) << i;
        sets->of_part |= changes[i].factors ? bit : 0;
        sets->of_mark[changes[i].mark] |= bit;
        for (int kind = 0; kind < TM_N_EDGE_KINDS && !changes[i].factors; kind++)
            sets->of_kind[kind] |= changes[i].kinds >> kind & 1 ? bit : 0;
    }
}

uint64_t tm_sets_meant(const tm_sets *sets, const tm_graph *graph, const tm_edge *edge) {
    const bool kernel = sets->marks && edge->kind == TM_EDGE_COMPUTE;
    const uint8_t mark = kernel ? sets->marks[sets->names[graph->event[edge->from]]] : 0;
    return (sets->of_kind[edge->kind] & (sets->of_mark[0] | (mark ? sets->of_mark[mark] : 0))) |
           (edge->part > 0 ? sets->of_part : 0);
}

/* Whether an edge is the transfer of a send or a receive. */
static bool is_of_pair(const tm_sets *sets, const tm_graph *graph, const tm_edge *edge) {
    if (edge->kind != TM_EDGE_TRANSFER || !(edge->from & TM_FROM_VISIT) || !sets->pairs)
        return false;
    const tm_graph_visit *visits = graph->visits.data;
    const uint32_t row = visits[edge->from & ~TM_FROM_VISIT].event;
    return row != TM_NO_EVENT && sets->pairs[sets->names[row]];
}

void tm_scaled_free(tm_scaled *scaled) {
    tm_keys_free(&scaled->operations);
    tm_vec_free(&scaled->factors);
}

double tm_scaled_factor(const tm_scaled *scaled, uint64_t operation) {
    const uint32_t at = tm_keys_find(&scaled->operations, &operation);
    return at == TM_NO_KEY ? 1.0 : ((const double *)scaled->factors.data)[at];
}

static inline double factor_of(const tm_sets *sets, size_t i, const tm_graph *graph,
                               const tm_edge *edge) {
    const tm_change *change = &sets->changes[i];
    const tm_graph_visit *visits = graph->visits.data;
    if (change->of_operation)
        return edge->from & TM_FROM_VISIT && edge->from != TM_FROM_ROOT
                   ? tm_scaled_factor(change->of_operation,
                                      visits[edge->from & ~TM_FROM_VISIT].operation)
                   : 1.0;
    if (!change->of_rank)
        return change->factor;
    const double factor = change->of_rank[2 * sets->rank + (edge->kind != TM_EDGE_COMPUTE)];
    return factor != 1.0 && is_of_pair(sets, graph, edge) ? 1.0 : factor;
}

double tm_sets_factor(const tm_sets *sets, size_t i, const tm_graph *graph, const tm_edge *edge) {
    return factor_of(sets, i, graph, edge);
}

void tm_sets_weigh_changes(const void *context, const tm_graph *graph, uint32_t node, uint32_t edge,
                           int64_t *ns) {
    const tm_sets *sets = context;
    const tm_edge *e = &graph->edges[edge];
    const int64_t over = tm_graph_over_ns(graph, node, e), without = explained(e, over, e->ns);
    uint64_t meant = tm_sets_meant(sets, graph, e);
    for (size_t i = 0; i < 2 * sets->n; i += TM_LANES) /* whole rows; ns has room for them */
        for (size_t k = 0; k < TM_LANES; k += 2) {
            ns[i + k] = e->ns;
            ns[i + k + 1] = without;
        }
    for (; meant; meant &= meant - 1) {
        const size_t i = (size_t)__builtin_ctzll(meant);
        if (sets->changes[i].flags == 0 || (e->flags & sets->changes[i].flags))
            change_edge(&sets->changes[i], factor_of(sets, i, graph, e), e, over, ns + 2 * i);
    }
}

/* A change that takes less than T / 2000 off the path cannot save more. */
enum { WORTH_TRYING = 2000 };

/* Sums over the path, by name. */
typedef struct on_path {
    int64_t path_ns, gain_ns;
    uint32_t name;
} on_path;

static int by_path(const void *a, const void *b) {
    const on_path *x = a, *y = b;
    int order = -tm_order_i64(x->path_ns, y->path_ns);
    return order ? order : tm_order_i64(x->name, y->name);
}

static bool is_worth(const tm_replay_result *result, int64_t gain_ns) {
    return result->whole.n == 0 || (gain_ns > 0 && gain_ns >= result->total_ns / WORTH_TRYING);
}

static void choose(tm_changes *out, const tm_whatif_item *item, const tm_change *change,
                   bool tried) {
    out->items[out->n] = *item;
    out->items[out->n].tried = tried;
    out->changes[out->n++] = *change;
}

/* Sums the part of a path that is of a kind. */
static on_path sum_kind(const tm_vec *path, const tm_fix_kind *kind) {
    const tm_path_piece *pieces = path->data;
    on_path sum = {0};
    for (size_t i = 0; i < path->n; i++)
        if ((kind->kinds >> pieces[i].kind & 1) &&
            (kind->flags == 0 || (pieces[i].flags & kind->flags))) {
            sum.path_ns += pieces[i].ns;
            sum.gain_ns += pieces[i].gain_ns;
        }
    return sum;
}

static void choose_kinds(const tm_replay_result *result, tm_changes *out) {
    for (int k = 0; k < TM_N_FIX_KINDS; k++) {
        const tm_fix_kind *kind = &tm_fix_kinds[k];
        const on_path steps = sum_kind(&result->pieces, kind), all = sum_kind(&result->whole, kind);
        tm_whatif_item item = {.id = k,
                               .path_ns = steps.path_ns,
                               .what = TM_WHATIF_KIND,
                               .ideal_ns = -1,
                               .next_rank = -1};
        const tm_change change = {
            .kinds = kind->kinds, .flags = kind->flags, .factor = (double)INFINITY};
        if (steps.path_ns == 0 && all.path_ns == 0)
            continue;
        choose(out, &item, &change, is_worth(result, all.gain_ns));
        if (kind->flags & TM_EDGE_STALL)
            continue; /* at the usual length it is no stall */
        const tm_change none = {.kinds = kind->kinds, .flags = kind->flags, .factor = 0.0};
        item.what = TM_WHATIF_LIMIT;
        choose(out, &item, &none, is_worth(result, all.path_ns));
    }
}

/* Sums compute kernels by name: time on the paths of steps, or possible gain on the whole path. */
static bool sum_kernels(const tm_vec *path, bool whole, tm_keys *keys, tm_vec *sums) {
    const tm_path_piece *pieces = path->data;
    for (size_t i = 0; i < path->n; i++) {
        if (pieces[i].kind != TM_EDGE_COMPUTE)
            continue;
        on_path *sum = tm_keys_value(keys, sums, &pieces[i].name);
        if (!sum)
            return false;
        sum->name = pieces[i].name;
        sum->path_ns += whole ? 0 : pieces[i].ns;
        sum->gain_ns += whole ? pieces[i].gain_ns : 0;
    }
    return true;
}

static bool choose_kernels(const tm_replay_result *result, tm_changes *out) {
    tm_keys keys = TM_KEYS(uint32_t);
    tm_vec sums = TM_VEC(on_path);
    bool ok = sum_kernels(&result->pieces, false, &keys, &sums) &&
              sum_kernels(&result->whole, true, &keys, &sums);
    if (ok && sums.n > 1)
        qsort(sums.data, sums.n, sums.size, by_path);
    for (size_t k = 0; k < sums.n && k < TM_KERNELS_MAX && ok; k++) {
        const on_path *sum = (const on_path *)sums.data + k;
        const tm_whatif_item item = {.id = sum->name,
                                     .path_ns = sum->path_ns,
                                     .what = TM_WHATIF_KERNEL,
                                     .ideal_ns = -1,
                                     .next_rank = -1};
        out->kernels[out->n_kernels++] = sum->name;
        const tm_change change = {.kinds = 1 << TM_EDGE_COMPUTE,
                                  .mark = (uint8_t)out->n_kernels,
                                  .factor = (double)INFINITY};
        choose(out, &item, &change, is_worth(result, sum->gain_ns));
    }
    tm_keys_free(&keys);
    tm_vec_free(&sums);
    return ok;
}

tm_status tm_changes_choose(const tm_replay_result *result, tm_changes *out, tm_error *err) {
    choose_kinds(result, out);
    return choose_kernels(result, out) ? TM_OK : tm_fail_memory(err);
}

uint8_t *tm_changes_mark(const tm_changes *changes, size_t n_names) {
    uint8_t *marks = calloc(n_names + 1, 1);
    for (uint32_t k = 0; k < changes->n_kernels && marks; k++)
        marks[changes->kernels[k]] = (uint8_t)(k + 1);
    return marks;
}
