/* The weights of a crew's edges in the sets that a job is replayed with. */
#include <math.h>

#include "replay/sets.h"

/* An edge on all ranks. */
typedef struct weights {
    tm_crew_row ns, peer, usual;
    tm_crew_row left; /* of ns, without what nothing explains: below any other where that is all */
} weights;

/* Without what nothing explains; where there is none of that, left is above all. */
static void explain(const weights *w, const tm_crew_row *ns, tm_crew_row *out) {
    for (size_t k = 0; k < TM_LANES; k++)
        out->ns[k] = w->left.ns[k] < ns->ns[k] ? w->left.ns[k] : ns->ns[k];
}

static void weigh(const tm_crew *crew, const tm_crew_desk *desk, uint32_t edge, weights *w) {
    const uint32_t slot = crew->items->slots[edge];
    w->ns = crew->recorded[edge];
    w->usual = w->peer = *tm_crew_peer(crew, desk, edge);
    for (size_t k = 0; k < TM_LANES && (desk->known[edge] & TM_EDGE_PAIR); k++)
        w->usual.ns[k] = w->ns.ns[k] < w->peer.ns[k] ? w->ns.ns[k] : w->peer.ns[k];
    for (size_t k = 0; k < TM_LANES; k++) {
        const int64_t ns = slot == TM_NO_SLOT ? 0 : crew->unexplained[slot].ns[k];
        w->left.ns[k] = ns > 0 ? w->ns.ns[k] - ns : INT64_MAX;
    }
}

void tm_sets_weigh_crew(const void *context, const tm_crew *crew, const tm_crew_desk *desk,
                        uint32_t edge, tm_crew_row *rows) {
    (void)context;
    const bool transfer = crew->like->edges[edge].kind == TM_EDGE_TRANSFER;
    weights w;
    weigh(crew, desk, edge, &w);
    rows[TM_SET_RECORDED] = w.ns;
    explain(&w, &w.ns, &rows[TM_SET_RECORDED_EXPLAINED]);
    rows[TM_SET_PEER] = transfer ? w.ns : w.peer;
    explain(&w, &rows[TM_SET_PEER], &rows[TM_SET_PEER_EXPLAINED]);
    rows[TM_SET_IDEAL] = w.usual;
    rows[TM_SET_IDEAL_RECORDED] = transfer ? w.peer : w.ns;
}

static int64_t scaled(int64_t ns, double factor) {
    return factor == 0.0 ? 0 : llround((double)ns * factor);
}

/* @param rows  the change's two, as recorded so far; @p ranks  that it means, bit by rank */
static void change_ranks(const weights *w, double factor, uint8_t ranks, tm_crew_row *rows) {
    const bool peers = isnan(factor) || isinf(factor);
    tm_crew_row plain = isnan(factor) ? w->peer : w->usual, left;
    explain(w, &plain, &left);
    for (size_t k = 0; k < TM_LANES; k++) {
        if (!(ranks >> k & 1))
            continue;
        rows[0].ns[k] = peers ? plain.ns[k] : scaled(w->ns.ns[k], factor);
        rows[1].ns[k] = peers ? left.ns[k] : scaled(rows[1].ns[k], factor);
    }
}

/* On which ranks an edge has a change's flags. */
static uint8_t ranks_meant(const tm_change *change, uint8_t flags, uint8_t stall) {
    if (change->flags == 0 || (change->flags & flags & (TM_EDGE_INPUT | TM_EDGE_GC)))
        return UINT8_MAX;
    return change->flags & TM_EDGE_STALL ? stall : 0;
}

void tm_sets_weigh_crew_changes(const void *context, const tm_crew *crew, const tm_crew_desk *desk,
                                uint32_t edge, tm_crew_row *rows) {
    const tm_sets *sets = context;
    const tm_edge *e = &crew->like->edges[edge];
    uint64_t meant = tm_sets_meant(sets, crew->like, e);
    tm_crew_row without;
    weights w;
    weigh(crew, desk, edge, &w);
    explain(&w, &w.ns, &without);
    for (size_t i = 0; i < sets->n; i++) {
        rows[2 * i] = w.ns;
        rows[2 * i + 1] = without;
    }
    for (; meant; meant &= meant - 1) {
        const size_t i = (size_t)__builtin_ctzll(meant);
        const uint8_t ranks = ranks_meant(&sets->changes[i], e->flags, desk->stall[edge]);
        if (ranks)
            change_ranks(&w, sets->changes[i].factor, ranks, rows + 2 * i);
    }
}
