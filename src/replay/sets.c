#include "sets.h"

#include <math.h>

static int64_t explained(const tm_edge *edge, int64_t ns) {
    int64_t without = edge->ns - edge->unexplained_ns;
    return edge->unexplained_ns > 0 && without < ns ? without : ns;
}

static bool is_meant(const tm_change *change, const tm_edge *edge, uint8_t mark) {
    return (change->kinds >> edge->kind & 1) &&
           (change->flags == 0 || (edge->flags & change->flags)) &&
           (change->marked == 0 || (mark & change->marked));
}

void tm_sets_weigh(const void *context, const tm_graph *graph, uint32_t edge, int64_t *ns) {
    const tm_sets *sets = context;
    const tm_edge *e = &graph->edges[edge];
    const bool transfer = e->kind == TM_EDGE_TRANSFER;
    const int64_t peer = transfer ? e->ns : e->peer_ns;
    ns[TM_SET_RECORDED] = e->ns;
    ns[TM_SET_RECORDED_EXPLAINED] = explained(e, e->ns);
    ns[TM_SET_PEER] = peer;
    ns[TM_SET_PEER_EXPLAINED] = explained(e, peer);
    ns[TM_SET_IDEAL] = e->peer_ns;
    ns[TM_SET_IDEAL_RECORDED] = transfer ? e->peer_ns : e->ns;
    const uint8_t mark = sets->marks ? sets->marks[edge] : 0;
    for (size_t i = 0; i < sets->n; i++) {
        const tm_change *change = &sets->changes[i];
        int64_t changed = e->ns;
        if (is_meant(change, e, mark))
            changed = isnan(change->factor) ? e->peer_ns : llround((double)e->ns * change->factor);
        ns[TM_N_RANK_SETS + 2 * i] = changed;
        ns[TM_N_RANK_SETS + 2 * i + 1] = explained(e, changed);
    }
}
