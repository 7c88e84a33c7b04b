/* The weight sets of a replay. */
#ifndef TMERGE_REPLAY_SETS_H
#define TMERGE_REPLAY_SETS_H

#include "base/keys.h"
#include "reduce.h"

/** Sets that can be chosen for each rank. Sets whose name contains EXPLAINED have no unexplained
 * time. If only two ranks can be compared, IDEAL has the smaller of their weights. Transfers belong
 * to no rank. They therefore have their usual time only in the two IDEAL sets. */
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
    tm_keys operations; /* keys of type uint64_t */
    tm_vec factors;     /* vector of double, parallel to `operations` */
} tm_scaled;

#define TM_SCALED() ((tm_scaled){TM_KEYS(uint64_t), TM_VEC(double)})

void tm_scaled_free(tm_scaled *scaled);

/** Returns the factor of an operation; 1 if it has none. */
double tm_scaled_factor(const tm_scaled *scaled, uint64_t operation);

/** A change of the weights of some edges on all ranks. It has two sets: one with unexplained time,
 * and one without. */
typedef struct tm_change {
    uint16_t kinds; /* bit k: edges of kind k (tm_edge_kind) change */
    uint8_t flags;  /* only edges with one of these flags change; 0: all */
    uint8_t mark;   /* only kernels with this mark change; 0: all */
    /* The new weight is the recorded weight times `factor`. NaN: the new weight is peer_ns.
     * INFINITY: the new weight is the usual weight. */
    double factor;
    /* If not NULL, replaces `factor`: the factors of a user's scenario. Part i of the scenario has
     * factors[i - 1]. */
    const double *factors;
    /* If not NULL, replaces `factor`: two factors for each rank of the process. [0] is for compute
     * kernels, [1] is for all other work except sends and receives. */
    const double *of_rank;
    const tm_scaled *of_operation; /* if not NULL, replaces `factor`: a factor for each operation */
} tm_change;

/** Maximum number of kernels whose change is evaluated. These are the kernels with the most time on
 * the path. */
enum { TM_KERNELS_MAX = 16 };

/** Changes that are evaluated together, at most 64. The kind and the mark of an edge determine
 * which changes may apply to it. */
typedef struct tm_sets {
    const tm_change *changes; /* [n]; change i has the sets 2 i and 2 i + 1 */
    size_t n;
    const uint8_t *marks; /* [name id] mark of the kernel, 0: no mark; NULL if there are no marks */
    const uint32_t *names; /* [row] name id of each row of the current rank */
    const uint8_t *pairs;  /* [name id] 1 for a kernel that sends or receives; NULL if not needed */
    size_t rank;           /* index, in its process, of the rank or of the batch's first rank */
    /* Bit i is set if change i may apply. of_kind: to edges of this kind. of_mark: to kernels with
     * this mark. of_part: to edges with a part of the scenario. */
    uint64_t of_kind[TM_N_EDGE_KINDS], of_mark[TM_KERNELS_MAX + 1], of_part;
} tm_sets;

void tm_sets_init(tm_sets *sets, const tm_change *changes, size_t n);

/** Returns the factor of change @p i for an edge. The edge may belong to a batch: all its ranks are
 * in the same stage, so the factor is the same for them. */
double tm_sets_factor(const tm_sets *sets, size_t i, const tm_graph *graph, const tm_edge *edge);

/** Returns the changes that apply to an edge, as bits (bit i: change i). The member `flags` of the
 * changes is ignored. */
uint64_t tm_sets_meant(const tm_sets *sets, const tm_graph *graph, const tm_edge *edge);

/** Functions of type tm_weigh. tm_sets_weigh computes the sets that can be chosen for each rank,
 * and ignores its context. tm_sets_weigh_changes computes the sets of changes, and its context is a
 * tm_sets. */
void tm_sets_weigh(const void *context, const tm_graph *graph, uint32_t edge, int64_t *ns);
void tm_sets_weigh_changes(const void *context, const tm_graph *graph, uint32_t edge, int64_t *ns);

/** Return the functions for batches that correspond to the two functions above. They are compiled
 * for this processor's instruction set. */
tm_weigh_batch *tm_sets_weigh_batch(void);
tm_weigh_batch *tm_sets_weigh_batch_changes(void);

#endif
