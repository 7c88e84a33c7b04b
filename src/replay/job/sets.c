#include "sets.h"

#include <math.h>

#include "base/keys.h"
#include "base/simd_lanes.h"

/* Returns the smaller of @p ns and the recorded weight without its unexplained part. If the
 * unexplained part is larger than the weight, because the edge was cut at the root, 0 remains. */
static int64_t explained(const tm_edge *edge, const tm_weight *w, int64_t ns) {
    const bool cut = edge->from == TM_FROM_ROOT && w->ns < w->over_ns;
    const int64_t without = cut ? 0 : w->ns - w->over_ns;
    return w->over_ns > 0 && without < ns ? without : ns;
}

/* Computes the weight of an edge after a change, with and without unexplained time. */
static void change_edge(double factor, const tm_edge *edge, const tm_weight *weight, int64_t *ns) {
    if (factor == 0.0) {
        ns[0] = ns[1] = 0;
    } else if (isnan(factor) || isinf(factor)) {
        ns[0] = isnan(factor) ? weight->peer_ns : tm_edge_usual_ns(edge, weight);
        ns[1] = explained(edge, weight, ns[0]);
    } else {
        ns[0] = llround((double)weight->ns * factor);
        ns[1] = llround((double)ns[1] * factor);
    }
}

void tm_sets_weigh(const void *context, const tm_graph *graph, uint32_t edge, int64_t *ns) {
    (void)context;
    const tm_edge *e = &graph->edges[edge];
    const tm_weight w = tm_graph_weight(graph, e);
    const bool transfer = e->kind == TM_EDGE_TRANSFER;
    const int64_t peer = transfer ? w.ns : w.peer_ns;
    ns[TM_SET_RECORDED] = w.ns;
    ns[TM_SET_RECORDED_EXPLAINED] = explained(e, &w, w.ns);
    ns[TM_SET_PEER] = peer;
    ns[TM_SET_PEER_EXPLAINED] = explained(e, &w, peer);
    ns[TM_SET_IDEAL] = tm_edge_usual_ns(e, &w);
    ns[TM_SET_IDEAL_RECORDED] = transfer ? w.peer_ns : w.ns;
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
           (tm_graph_fix(graph, edge) > 0 ? sets->of_part : 0);
}

/* Returns whether an edge is the transfer of a kernel that sends or receives. */
static bool is_of_pair(const tm_sets *sets, const tm_graph *graph, const tm_edge *edge) {
    if (edge->kind != TM_EDGE_TRANSFER || !(edge->from & TM_FROM_OPERATION) || !sets->pairs)
        return false;
    const tm_graph_participant *participants = graph->participants.data;
    const uint32_t row = participants[edge->from & ~TM_FROM_OPERATION].event;
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
    const tm_graph_participant *participants = graph->participants.data;
    if (change->of_operation)
        return edge->from & TM_FROM_OPERATION && edge->from != TM_FROM_ROOT
                   ? tm_scaled_factor(change->of_operation,
                                      participants[edge->from & ~TM_FROM_OPERATION].operation)
                   : 1.0;
    if (change->factors)
        return change->factors[tm_graph_fix(graph, edge) - 1];
    if (!change->of_rank)
        return change->factor;
    const double factor = change->of_rank[2 * sets->rank + (edge->kind != TM_EDGE_COMPUTE)];
    return factor != 1.0 && is_of_pair(sets, graph, edge) ? 1.0 : factor;
}

double tm_sets_factor(const tm_sets *sets, size_t i, const tm_graph *graph, const tm_edge *edge) {
    return factor_of(sets, i, graph, edge);
}

void tm_sets_weigh_changes(const void *context, const tm_graph *graph, uint32_t edge, int64_t *ns) {
    const tm_sets *sets = context;
    const tm_edge *e = &graph->edges[edge];
    const tm_weight w = tm_graph_weight(graph, e);
    const int64_t without = explained(e, &w, w.ns);
    uint64_t meant = tm_sets_meant(sets, graph, e);
    /* the last row may be written past the last set, because `ns` has room for whole rows */
    for (size_t i = 0; i < 2 * sets->n; i += TM_LANES)
        for (size_t k = 0; k < TM_LANES; k += 2) {
            ns[i + k] = w.ns;
            ns[i + k + 1] = without;
        }
    for (; meant; meant &= meant - 1) {
        const size_t i = (size_t)__builtin_ctzll(meant);
        if (sets->changes[i].flags == 0 || (e->flags & sets->changes[i].flags))
            change_edge(factor_of(sets, i, graph, e), e, &w, ns + 2 * i);
    }
}
