#include "sets.h"

#include <math.h>

static int64_t explained(const tm_edge *edge, int64_t ns) {
    int64_t without = edge->ns - edge->unexplained_ns;
    return edge->unexplained_ns > 0 && without < ns ? without : ns;
}

static int64_t change_edge(const tm_change *change, const tm_edge *edge, uint8_t mark) {
    bool meant = (change->kinds >> edge->kind & 1) &&
                 (change->flags == 0 || (edge->flags & change->flags)) &&
                 (change->factors ? mark > 0 : change->mark == 0 || mark == change->mark);
    if (!meant)
        return edge->ns;
    double factor = change->factors ? change->factors[mark - 1] : change->factor;
    return isnan(factor) ? edge->peer_ns : llround((double)edge->ns * factor);
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
    ns[TM_SET_IDEAL] = (e->flags & TM_EDGE_PAIR) && e->ns < e->peer_ns ? e->ns : e->peer_ns;
    ns[TM_SET_IDEAL_RECORDED] = transfer ? e->peer_ns : e->ns;
    const uint8_t mark = sets->marks ? sets->marks[edge] : 0;
    for (size_t i = 0; i < sets->n; i++) {
        int64_t changed = change_edge(&sets->changes[i], e, mark);
        ns[TM_N_RANK_SETS + 2 * i] = changed;
        ns[TM_N_RANK_SETS + 2 * i + 1] = explained(e, changed);
    }
}
