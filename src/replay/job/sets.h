/* The weight sets of a replay. */
#ifndef TMERGE_REPLAY_SETS_H
#define TMERGE_REPLAY_SETS_H

#include "base/keys.h"
#include "reduce.h"

/** Sets that can be chosen for each rank. Sets named EXPLAINED have no unexplained time. IDEAL has
 * the smaller weight where only two ranks can be compared. Transfers belong to no rank, so they
 * have their usual time only in the two IDEAL sets. */
enum {
    TM_SET_RECORDED,
    TM_SET_RECORDED_EXPLAINED,
    TM_SET_PEER,
    TM_SET_PEER_EXPLAINED,
    TM_SET_IDEAL,          /* the other ranks' weights, and transfers at their usual time */
    TM_SET_IDEAL_RECORDED, /* the recorded weights, but transfers at their usual time */
    TM_N_RANK_SETS
};

/** Operations whose transfer time is scaled. */
typedef struct tm_scaled {
    tm_keys operations; /* of uint64_t */
    tm_vec factors;     /* of double, parallel to `operations` */
} tm_scaled;

#define TM_SCALED() ((tm_scaled){TM_KEYS(uint64_t), TM_VEC(double)})

void tm_scaled_free(tm_scaled *scaled);

/** Returns the factor of an operation; 1 if it has none. */
double tm_scaled_factor(const tm_scaled *scaled, uint64_t operation);

/** A change of the weights of some edges on all ranks. It has two sets: with unexplained time, and
 * without. */
typedef struct tm_change {
    uint16_t kinds; /* bit k: edges of kind k (tm_edge_kind) change */
    uint8_t flags;  /* only edges with one of these flags change; 0: all */
    uint8_t mark;   /* only kernels with this mark change; 0: all */
    double factor;  /* the recorded weight times `factor`; NaN: peer_ns instead; INFINITY: the usual
                       weight instead */
    /* if not NULL, replaces `factor`: factors of a user's scenario, by tm_graph_fix - 1 */
    const double *factors;
    /* if not NULL, replaces `factor`: two factors for each rank of the process, [0] for compute
     * kernels, [1] for all other work except sends and receives */
    const double *of_rank;
    const tm_scaled *of_operation; /* if not NULL, replaces `factor`: factors by operation */
} tm_change;

/** Maximum number of kernels whose change is evaluated: those with the most time on the path. */
enum { TM_KERNELS_MAX = 16 };

/** Changes that are evaluated together, at most 64. The kind and the mark of an edge determine
 * which changes may apply to it. */
typedef struct tm_sets {
    const tm_change *changes; /* [n]; change i has the sets 2 i and 2 i + 1 */
    size_t n;
    const uint8_t *marks;  /* by name id: mark of the kernel, 0: none; NULL: no marks */
    const uint32_t *names; /* by row of the current rank: name id */
    const uint8_t *pairs;  /* by name id: 1 for kernels that send or receive; NULL: not needed */
    size_t rank;           /* index of the rank, or of a batch's first rank, in its process */
    /* bit i: change i may apply to edges of this kind; to kernels with this mark; to edges with a
     * part of the scenario */
    uint64_t of_kind[TM_N_EDGE_KINDS], of_mark[TM_KERNELS_MAX + 1], of_part;
} tm_sets;

void tm_sets_init(tm_sets *sets, const tm_change *changes, size_t n);

/** Returns the factor of change @p i for an edge. The edge may be that of a batch, because all
 * ranks of a batch are of one stage. */
double tm_sets_factor(const tm_sets *sets, size_t i, const tm_graph *graph, const tm_edge *edge);

/** Returns the changes that apply to an edge (bit i: change i). Ignores their flags. */
uint64_t tm_sets_meant(const tm_sets *sets, const tm_graph *graph, const tm_edge *edge);

/** tm_weigh functions. The first is for the sets of ranks, and ignores its context; the second is
 * for changes, and its context is a tm_sets. */
void tm_sets_weigh(const void *context, const tm_graph *graph, uint32_t edge, int64_t *ns);
void tm_sets_weigh_changes(const void *context, const tm_graph *graph, uint32_t edge, int64_t *ns);

/** Return the two functions for batches, compiled for this processor's instruction set. */
tm_weigh_batch *tm_sets_weigh_batch(void);
tm_weigh_batch *tm_sets_weigh_batch_changes(void);

#endif
