/* The weights that a job is replayed with. */
#ifndef TMERGE_REPLAY_SETS_H
#define TMERGE_REPLAY_SETS_H

#include "graph.h"

/** Those that each rank can have by itself; such as have no EXPLAINED keep what nothing recorded
 * explains. Transfers belong to no rank: only IDEAL ones are at what is usual for their like. Of
 * two ranks, that have nobody else to be compared with, IDEAL takes the shorter. */
enum {
    TM_SET_RECORDED,
    TM_SET_RECORDED_EXPLAINED,
    TM_SET_PEER,
    TM_SET_PEER_EXPLAINED,
    TM_SET_IDEAL,          /* peer, transfers too */
    TM_SET_IDEAL_RECORDED, /* recorded, but transfers */
    TM_N_RANK_SETS
};

/** Edges of some sort have another weight, on all ranks: a set, and behind it the same without what
 * nothing explains. */
typedef struct tm_change {
    uint16_t kinds;        /* bit by tm_edge_kind: those meant, */
    uint8_t flags;         /* of them those with any of these; 0: all */
    uint8_t mark;          /* of them those with this mark; 0: all */
    double factor;         /* times this; NaN: what the peers have, of transfers what is usual */
    const double *factors; /* instead, by mark from 1 on: a user's scenario; NULL for none */
} tm_change;

typedef struct tm_sets {
    const tm_change *changes; /* [n]; sets TM_N_RANK_SETS + 2 i and + 1 are of change i */
    size_t n;
    const uint8_t *marks; /* by edge of the graph at hand; NULL for none */
} tm_sets;

static inline size_t tm_sets_count(const tm_sets *sets) {
    return TM_N_RANK_SETS + 2 * sets->n;
}

/** A tm_weigh. @param context  tm_sets */
void tm_sets_weigh(const void *context, const tm_graph *graph, uint32_t edge, int64_t *ns);

#endif
