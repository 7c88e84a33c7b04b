/* The weights of a crew's edges in the sets that a job is replayed with. */
#include <math.h>

#include "replay/sets.h"

/* An edge on all ranks. */
typedef struct weights {
    const int64_t *ns, *peer, *usual;
    const int64_t *unexplained; /* of ns; NULL: nothing */
} weights;

/* The weights without what nothing explains of the recorded ones, in @p room where they differ. */
static const int64_t *explain(const weights *w, const int64_t *ns, tm_crew_row *room) {
    if (!w->unexplained)
        return ns;
    for (size_t k = 0; k < TM_LANES; k++) {
        const int64_t left = w->unexplained[k] > 0 ? w->ns[k] - w->unexplained[k] : INT64_MAX;
        room->ns[k] = left < ns[k] ? left : ns[k];
    }
    return room->ns;
}

static weights weigh(const tm_crew *crew, const tm_crew_desk *desk, uint32_t edge,
                     tm_crew_row *room) {
    const uint32_t slot = crew->items->slots[edge];
    weights w = {.ns = crew->recorded[edge].ns,
                 .peer = tm_crew_peer(crew, desk, edge)->ns,
                 .unexplained = slot == TM_NO_SLOT ? NULL : crew->unexplained[slot].ns};
    w.usual = w.peer;
    if (desk->known[edge] & TM_EDGE_PAIR) {
        for (size_t k = 0; k < TM_LANES; k++)
            room->ns[k] = w.ns[k] < w.peer[k] ? w.ns[k] : w.peer[k];
        w.usual = room->ns;
    }
    return w;
}

void tm_sets_weigh_crew(const void *context, const tm_crew *crew, const tm_crew_desk *desk,
                        uint32_t edge, tm_crew_row *room, const int64_t **by) {
    (void)context;
    const bool transfer = crew->like->edges[edge].kind == TM_EDGE_TRANSFER;
    const weights w = weigh(crew, desk, edge, &room[0]);
    by[TM_SET_RECORDED] = w.ns;
    by[TM_SET_RECORDED_EXPLAINED] = explain(&w, w.ns, &room[1]);
    by[TM_SET_PEER] = transfer ? w.ns : w.peer;
    by[TM_SET_PEER_EXPLAINED] = explain(&w, by[TM_SET_PEER], &room[2]);
    by[TM_SET_IDEAL] = w.usual;
    by[TM_SET_IDEAL_RECORDED] = transfer ? w.peer : w.ns;
}

static const int64_t nothing[TM_LANES] = {0};

static void scale(const int64_t *ns, double factor, int64_t *out) {
    for (size_t k = 0; k < TM_LANES; k++)
        out[k] = llround((double)ns[k] * factor);
}

/* The weights of a change, and the same without what nothing explains.
 * @param room  [2] @param by  [2] as recorded so far */
static void change_all(const weights *w, double factor, tm_crew_row *room, const int64_t **by) {
    if (factor == 0.0) {
        by[0] = by[1] = nothing;
    } else if (isnan(factor) || isinf(factor)) {
        by[0] = isnan(factor) ? w->peer : w->usual;
        by[1] = explain(w, by[0], &room[1]);
    } else {
        scale(by[1], factor, room[1].ns);
        scale(by[0], factor, room[0].ns);
        by[0] = room[0].ns;
        by[1] = room[1].ns;
    }
}

/* Of the ranks that a change does not mean, bit by rank, the weights are as recorded.
 * @param was  [2] @param room  [2] @param by  [2] */
static void leave_ranks(uint8_t ranks, const int64_t *const *was, tm_crew_row *room,
                        const int64_t **by) {
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < TM_LANES; k++)
            room[i].ns[k] = ranks >> k & 1 ? by[i][k] : was[i][k];
        by[i] = room[i].ns;
    }
}

/* On which ranks an edge has a change's flags. */
static uint8_t ranks_meant(const tm_change *change, uint8_t flags, uint8_t stall) {
    if (change->flags == 0 || (change->flags & flags & (TM_EDGE_INPUT | TM_EDGE_GC)))
        return UINT8_MAX;
    return change->flags & TM_EDGE_STALL ? stall : 0;
}

void tm_sets_weigh_crew_changes(const void *context, const tm_crew *crew, const tm_crew_desk *desk,
                                uint32_t edge, tm_crew_row *room, const int64_t **by) {
    const tm_sets *sets = context;
    const tm_edge *e = &crew->like->edges[edge];
    const weights w = weigh(crew, desk, edge, &room[0]);
    const int64_t *const was[2] = {w.ns, explain(&w, w.ns, &room[1])};
    for (size_t i = 0; i < sets->n; i++) {
        by[2 * i] = was[0];
        by[2 * i + 1] = was[1];
    }
    for (uint64_t meant = tm_sets_meant(sets, crew->like, e); meant; meant &= meant - 1) {
        const size_t i = (size_t)__builtin_ctzll(meant);
        const uint8_t ranks = ranks_meant(&sets->changes[i], e->flags, desk->stall[edge]);
        tm_crew_row *own = room + 2 + 2 * i;
        if (!ranks)
            continue;
        change_all(&w, sets->changes[i].factor, own, by + 2 * i);
        if (ranks != UINT8_MAX)
            leave_ranks(ranks, was, own, by + 2 * i);
    }
}
