/* What each rank did by itself, summed so that ranks of one role can be compared: no wait is in it.
 *
 * The places of a step (peers.h) are dealt out to a few parts of the step, by their hashes: so each
 * part has some of all that is done, and what hangs together in a step does so in all of its parts.
 * Places that not all ranks of a role have count where its ranks are known to do the same but for
 * those (extras/extras_sum.h). */
#ifndef TMERGE_REPLAY_WORKS_H
#define TMERGE_REPLAY_WORKS_H

#include "base/vec.h"

#include <stdint.h>

/** What is summed: compute kernels, copies and sets; calls and what the host does before them; what
 * nothing that was recorded explains of the begins of kernels and copies. Of calls also the median
 * of one, where stages are on hosts of their own (call_times.h): else 0. */
typedef enum tm_works_kind {
    TM_WORKS_DEVICE,
    TM_WORKS_HOST,
    TM_WORKS_LAG,
    TM_WORKS_CALL,
    TM_N_WORKS
} tm_works_kind;

/** Whose they are; behind it stand [TM_N_WORKS][rows] sums in ns. */
typedef struct tm_works_rank {
    int64_t rank, stage, host; /* stage -1 for no pipeline; host: name id, -1 unknown */
} tm_works_rank;

enum { TM_WORKS_RANK_WORDS = 3 };

/** Those of all ranks. */
typedef struct tm_works {
    size_t n_rows;
    int64_t *steps; /* owned; [n_rows] number of the step of each row, ascending */
    tm_vec ranks;   /* of int64_t[TM_WORKS_RANK_WORDS + TM_N_WORKS * n_rows], ascending in stage,
                       then rank */
} tm_works;

void tm_works_free(tm_works *works);

/** A rank of works, and its sums. */
static inline const tm_works_rank *tm_works_at(const tm_works *works, size_t i) {
    return (const void *)((const char *)works->ranks.data + i * works->ranks.size);
}
static inline const int64_t *tm_works_sums(const tm_works *works, size_t i, tm_works_kind work) {
    return (const int64_t *)(const void *)(tm_works_at(works, i) + 1) + work * works->n_rows;
}

#endif
