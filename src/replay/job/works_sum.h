/* Sums the own work of ranks: see works.h. */
#ifndef TMERGE_REPLAY_WORKS_SUM_H
#define TMERGE_REPLAY_WORKS_SUM_H

#include "peers.h"
#include "works.h"

/** How sums are divided into rows: by step, and within a step by part. */
typedef struct tm_works_shape {
    size_t n_steps, n_parts;
    uint8_t step_at[TM_PLACE_STEPS + 1]; /* [tm_place_step] index of the step; 0xff: none */
} tm_works_shape;

static inline size_t tm_works_rows(const tm_works_shape *shape) {
    return shape->n_steps * shape->n_parts;
}

/** Adds the steps of all places to a bit set.
 * @param steps  bit i is set if a place has tm_place_step i */
void tm_works_steps(const tm_peer_places *places, uint64_t steps[(TM_PLACE_STEPS + 1) / 64]);

/** Returns the shape for the steps of a bit set. The number of parts of each step is the largest
 * power of two for which there are at most 64 rows. It is at least 1. */
tm_works_shape tm_works_shape_of(const uint64_t steps[(TM_PLACE_STEPS + 1) / 64]);

typedef struct tm_works_of {
    const tm_works_shape *shape;
    const tm_peer_places *places; /* places, with the answers of their owners */
    int64_t n_peers;              /* number of ranks of the role, including this one */
    bool calls;                   /* if true, the medians of calls are also computed */
    int64_t *apart_ns;            /* device work at places that some ranks lack is added to this */
} tm_works_of;

/** Time of a step in which a rank's kernels ran at once (TM_WORKS_AT_ONCE). */
typedef struct tm_works_at_once {
    size_t index;       /* index of the rank in its process */
    int64_t number, ns; /* number of the step */
} tm_works_at_once;

/** Appends a tm_works_at_once for each marked step of a rank in which kernels ran at once. False
 * when out of memory. */
bool tm_works_find_at_once(const tm_timeline *timeline, size_t index, tm_vec *out) TM_MUST_CHECK;

/** Adds a step of a rank to AT_ONCE in @p out [TM_N_WORKS][rows]. */
void tm_works_add_at_once(const tm_works_shape *shape, const tm_works_at_once *step, int64_t *out);

/** Adds a rank's work to all sums in @p out [TM_N_WORKS][rows] except AT_ONCE and CALL. */
void tm_works_add(const tm_works_of *of, const tm_peer_items *items, int64_t *out);

/** Sets CALL in @p out [TM_N_WORKS][rows] to the medians of a rank's calls. False when out of
 * memory. */
bool tm_works_calls(const tm_works_of *of, const tm_peer_items *items, int64_t *out) TM_MUST_CHECK;

/**
 * Like the two functions above, but for the ranks of a batch.
 *
 * @param out  [batch->n] for each rank, the sums as above
 */
void tm_works_add_batch(const tm_works_of *of, const tm_batch *batch, int64_t *const *out);
bool tm_works_batch_calls(const tm_works_of *of, const tm_batch *batch,
                          int64_t *const *out) TM_MUST_CHECK;

#endif
