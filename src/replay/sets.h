/* The weights that a job is replayed with, and which changes of them are worth a try. */
#ifndef TMERGE_REPLAY_SETS_H
#define TMERGE_REPLAY_SETS_H

#include "base/keys.h"
#include "reduce.h"
#include "result.h"

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

/** Operations whose transfer takes another time. */
typedef struct tm_scaled {
    tm_keys operations; /* of uint64_t */
    tm_vec factors;     /* of double, in their order */
} tm_scaled;

#define TM_SCALED() ((tm_scaled){TM_KEYS(uint64_t), TM_VEC(double)})

void tm_scaled_free(tm_scaled *scaled);

/** 1 of those that are not among them. */
double tm_scaled_factor(const tm_scaled *scaled, uint64_t operation);

/** Edges of some sort have another weight, on all ranks: a set, and behind it the same without what
 * nothing explains. */
typedef struct tm_change {
    uint16_t kinds;        /* bit by tm_edge_kind: those meant, */
    uint8_t flags;         /* of them those with any of these; 0: all */
    uint8_t mark;          /* of them those with this mark; 0: all */
    double factor;         /* times this; NaN: what the peers have; INFINITY: what is usual */
    const double *factors; /* a user's scenario instead: by tm_edge.part from 1 on; else NULL */
    const double *of_rank; /* times this instead, by the process's rank: of compute kernels, then of
                              all else but sends and receives; else NULL */
    const tm_scaled *of_operation; /* likewise, by the operation; else NULL */
} tm_change;

/** Kernels that are tried: those with most of the path. */
enum { TM_KERNELS_MAX = 16, TM_CHANGES_MAX = 2 * TM_N_FIX_KINDS + TM_KERNELS_MAX };

/** Changes that are tried together, 64 at most; which of them may mean an edge is told by its kind
 * and mark. */
typedef struct tm_sets {
    const tm_change *changes; /* [n]; sets 2 i and 2 i + 1 are of change i */
    size_t n;
    const uint8_t *marks;  /* by name id, of kernels; NULL for none */
    const uint32_t *names; /* by row, of the rank at hand */
    const uint8_t *pairs;  /* by name id: 1 of kernels that send or receive; NULL: nobody asks */
    size_t rank;           /* which of the process's it is; of a crew the first */
    uint64_t of_kind[TM_N_EDGE_KINDS], of_mark[TM_KERNELS_MAX + 1], of_part; /* bit i: change i */
} tm_sets;

void tm_sets_init(tm_sets *sets, const tm_change *changes, size_t n);

/** What change @p i does to an edge of the rank at hand. All ranks of a crew are of one stage. */
double tm_sets_factor(const tm_sets *sets, size_t i, const tm_graph *graph, const tm_edge *edge);

/** Which changes mean an edge, but for their flags: bit i change i. */
uint64_t tm_sets_meant(const tm_sets *sets, const tm_graph *graph, const tm_edge *edge);

/** Two tm_weigh: of the sets of ranks, without a context, and of changes. @param context  tm_sets
 */
void tm_sets_weigh(const void *context, const tm_graph *graph, uint32_t node, uint32_t edge,
                   int64_t *ns);
void tm_sets_weigh_changes(const void *context, const tm_graph *graph, uint32_t node, uint32_t edge,
                           int64_t *ns);

/** The same two of a crew, as this processor has them. */
tm_weigh_crew *tm_sets_weigh_crew(void);
tm_weigh_crew *tm_sets_weigh_crew_changes(void);

/** Kinds of work, each as on the peers and then as none at all; and kernels. Sent as bytes. */
typedef struct tm_changes {
    tm_change changes[TM_CHANGES_MAX];
    tm_whatif_item items[TM_CHANGES_MAX]; /* tried where it takes 0.05 % of T off the path */
    uint32_t kernels[TM_KERNELS_MAX];     /* name ids: marks 1, 2, ... */
    uint32_t n, n_kernels;
} tm_changes;

/**
 * Chooses among what lies on the path.
 *
 * @param result  with pieces, whole (empty: any may help) and total_ns
 * @param out     all 0
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_changes_choose(const tm_replay_result *result, tm_changes *out,
                            tm_error *err) TM_MUST_CHECK;

/** Marks by name id: which of the chosen kernels it is. To be freed by the caller; NULL when memory
 * is out. */
uint8_t *tm_changes_mark(const tm_changes *changes, size_t n_names);

#endif
