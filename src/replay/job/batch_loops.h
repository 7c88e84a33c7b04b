/* Loops over edges or items. Each loop handles all ranks of a batch at once, and is compiled for
 * several instruction sets (base/simd_lanes.h). Other code should use batch.h, peers.h and sets.h,
 * which call these loops. */
#ifndef TMERGE_REPLAY_BATCH_BATCH_LOOPS_H
#define TMERGE_REPLAY_BATCH_BATCH_LOOPS_H

#include "replay/job/peers.h"
#include "replay/job/reduce.h"
#include "replay/job/sets.h"

typedef struct tm_batch_loops {
    void (*times)(const tm_batch *batch, tm_batch_workspace *workspace);

    /** Computes the two weights of an item (see tm_peer_weights). */
    void (*weigh_item)(const tm_batch *batch, size_t item, tm_batch_row *first,
                       tm_batch_row *second);

    /**
     * Sets the peer weights of all items that also exist on other ranks.
     *
     * @param workspace  `known` and `stall` must be 0 before the call
     */
    void (*peers)(const tm_batch *batch, const tm_peer_places *places,
                  tm_batch_workspace *workspace);

    /** See tm_batch_slack. Goes from the last node back to the first.
     * @param late  [nodes] before the call, the latest times that other ranks and the ends of steps
     *              allow; INT64_MAX: no limit */
    void (*slack)(const tm_batch *batch, const tm_batch_workspace *workspace, tm_batch_row *late,
                  int64_t below_ns, tm_slack *out);

    /** `weigh` computes the sets that can be chosen for each rank, `weigh_changes` the sets of
     * changes. See sets.h. */
    tm_weigh_batch *weigh, *weigh_changes;
} tm_batch_loops;

/** Returns the loops for all instruction sets that this processor supports, the fastest last. */
const tm_batch_loops *const *tm_batch_loops_all(size_t *n);

/** Returns @p asked. If this is NULL, returns the fastest loops. */
const tm_batch_loops *tm_batch_loops_of(const tm_batch_loops *asked);

#endif
