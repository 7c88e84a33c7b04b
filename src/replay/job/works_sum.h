/* Sums the own work of ranks: works.h. */
#ifndef TMERGE_REPLAY_WORKS_SUM_H
#define TMERGE_REPLAY_WORKS_SUM_H

#include "peers.h"
#include "works.h"

/** The steps, and the number of parts into which each is split. */
typedef struct tm_works_shape {
    size_t n_steps, n_parts;
    uint8_t step_at[TM_PLACE_STEPS + 1]; /* by tm_place_step: index of the step */
} tm_works_shape;

static inline size_t tm_works_rows(const tm_works_shape *shape) {
    return shape->n_steps * shape->n_parts;
}

/** Adds the steps that occur in places.
 * @param steps  bit set, by tm_place_step */
void tm_works_steps(const tm_peer_places *places, uint64_t steps[(TM_PLACE_STEPS + 1) / 64]);

/** Returns the shape for these steps, with as many parts as give about 64 rows. */
tm_works_shape tm_works_shape_of(const uint64_t steps[(TM_PLACE_STEPS + 1) / 64]);

/** What to sum. */
typedef struct tm_works_of {
    const tm_works_shape *shape;
    const tm_peer_places *places; /* places, with the answers about other ranks */
    int64_t n_peers;              /* number of ranks of the role, including this one */
    bool calls;                   /* compute medians of calls, too */
    int64_t *apart_ns;            /* incremented by device work at places that not all ranks have */
} tm_works_of;

/** Adds a rank's sums. @param out  [TM_N_WORKS][rows]; CALL is left unchanged */
void tm_works_add(const tm_works_of *of, const tm_peer_items *items, int64_t *out);

/** Computes the medians of a rank's calls. False when out of memory.
 * @param out  [TM_N_WORKS][rows]; sets only CALL */
bool tm_works_calls(const tm_works_of *of, const tm_peer_items *items, int64_t *out) TM_MUST_CHECK;

/** Like the two functions above, for the ranks of a batch.
 * @param out  [batch->n] sums of each rank */
void tm_works_add_batch(const tm_works_of *of, const tm_batch *batch, int64_t *const *out);
bool tm_works_batch_calls(const tm_works_of *of, const tm_batch *batch,
                          int64_t *const *out) TM_MUST_CHECK;

#endif
