/* Reduces a rank's graph to its boundary nodes: the operations that the rank takes part in, and the
 * ends of its steps.
 *
 * A link is the longest path (distance) from one boundary node to another. It has a length in each
 * of several weight sets. A distance may pass an operation at which the rank arrives. Such a
 * distance is redundant if, in all sets, it is at most as long as the distance to the operation
 * plus the distance on from the operation. This is because an operation is never before the rank's
 * arrival.
 *
 * If too many distances remain at a node, the node becomes a joint: these distances end there, and
 * a new distance starts. A joint is like an operation in which only this rank takes part. The few
 * remaining links give exactly the times of the graph.
 */
#ifndef TMERGE_REPLAY_REDUCE_H
#define TMERGE_REPLAY_REDUCE_H

#include "replay/job/batch.h"

/**
 * Writes the weight of an edge in each set.
 *
 * @param ns  [n_sets] set to the weights; has room for whole rows (base/simd_lanes.h)
 */
typedef void tm_weigh(const void *context, const tm_graph *graph, uint32_t edge, int64_t *ns);

/** An operation that a rank takes part in, or a joint. */
typedef struct tm_boundary {
    uint64_t operation;
    int64_t last_ns;
} tm_boundary;

typedef struct tm_link {
    uint32_t from; /* source: index in `participants`, or TM_FROM_ROOT */
    /* target: for the rank's arrival at an operation, the index in `participants`; for the end of
     * step k, n_participants + k */
    uint32_t to;
} tm_link;

/** A rank's reduced graph. The arrays point into the words that tm_reduce wrote. */
typedef struct tm_reduced {
    int64_t rank;
    size_t n_sets, n_participants, n_steps, n_links;
    /* number of distances (replay/graph/labels.h) that were dropped, because the operation at which
     * they start is not before the node to which they lead */
    int64_t n_left_out;
    const tm_boundary *participants; /* [n_participants] ascending in (last_ns, operation) */
    const int64_t *steps;            /* [n_steps] step numbers, ascending */
    const tm_link *links; /* [n_links] ascending in `to`, then `from`; the root is last */
    const int64_t *ns;    /* [n_links][n_sets] */
} tm_reduced;

/**
 * Appends a reduced graph as words. Words can be sent to other processes. The words of several
 * ranks can be concatenated in any order. A distance to an arrival that would lead back is dropped.
 * In return, the arrival is never before its recorded time in any set, so savings are lower bounds.
 *
 * @param words  vector of int64_t; unchanged on failure
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_reduce(const tm_graph *graph, size_t n_sets, tm_weigh *weigh, const void *context,
                    tm_vec *words, tm_error *err) TM_MUST_CHECK;

/**
 * Finds the weights of an edge for all ranks of a batch.
 *
 * @param room  [sets + 3] memory for weights that are not stored elsewhere
 * @param by    [sets] set to the weights in each set
 */
typedef void tm_weigh_batch(const void *context, const tm_batch *batch,
                            const tm_batch_workspace *workspace, uint32_t edge, tm_batch_row *room,
                            const int64_t **by);

/** The weight sets of a batch. */
typedef struct tm_batch_sets {
    size_t n;
    tm_weigh_batch *weigh;
    const void *context;
} tm_batch_sets;

/**
 * Same as tm_reduce, for all ranks of a batch. If a rank would be reduced differently if it were
 * reduced alone, nothing is appended, and the caller must reduce each rank by itself.
 *
 * @param workspace  has the peer weights of this batch
 * @param done       set to whether the ranks were reduced
 */
tm_status tm_reduce_batch(const tm_batch *batch, tm_batch_workspace *workspace,
                          const tm_batch_sets *sets, bool *done, tm_vec *words,
                          tm_error *err) TM_MUST_CHECK;

/** Sets @p out to the first rank in these words. Returns the number of the rank's words. */
size_t tm_reduced_read(const int64_t *words, tm_reduced *out);

#endif
