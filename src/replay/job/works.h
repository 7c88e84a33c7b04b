/* Own work of each rank, i.e. work without waits. It is summed so that ranks of a role can be
 * compared.
 *
 * A step is divided into a few parts. Each place of the step (peers.h) is assigned to a part by its
 * hash. So each part is a sample of the whole step's work, and an effect on the whole step shows in
 * every part. Some ranks of a role may lack a place. Work at this place counts only if the ranks
 * are known to do the same work otherwise (extras_sum.h).
 */
#ifndef TMERGE_REPLAY_WORKS_H
#define TMERGE_REPLAY_WORKS_H

#include "base/vec.h"

#include <stdint.h>

/** What is summed. DEVICE: time of compute kernels, copies and sets. HOST: time of calls, and the
 * host time before them. LAG: the unexplained part of the starts of kernels and copies. AT_ONCE:
 * the part of DEVICE in which several compute kernels of a device run at once, counted for all but
 * one of them. It is summed by step: only the first row of a step has a value. CALL is not a sum,
 * but the median time of a call if each stage is on a single host (call_times.h); else 0. */
typedef enum tm_works_kind {
    TM_WORKS_DEVICE,
    TM_WORKS_HOST,
    TM_WORKS_LAG,
    TM_WORKS_AT_ONCE,
    TM_WORKS_CALL,
    TM_N_WORKS
} tm_works_kind;

/** Header of a rank's sums. It is followed by the sums: [TM_N_WORKS][rows] in ns. */
typedef struct tm_works_rank {
    int64_t rank, stage, host; /* stage: -1 without pipeline; host: name id, -1 if unknown */
} tm_works_rank;

enum { TM_WORKS_RANK_WORDS = 3 };

/** The sums of all ranks. */
typedef struct tm_works {
    size_t n_rows;
    int64_t *steps; /* owned; [n_rows] step number of each row, ascending */
    /* for each rank, its header and its sums: int64_t[TM_WORKS_RANK_WORDS + TM_N_WORKS * n_rows];
     * ascending in stage, then rank */
    tm_vec ranks;
} tm_works;

void tm_works_free(tm_works *works);

/** tm_works_at returns the header of rank @p i. tm_works_sums returns its sums of one kind of
 * work. */
static inline const tm_works_rank *tm_works_at(const tm_works *works, size_t i) {
    return (const void *)((const char *)works->ranks.data + i * works->ranks.size);
}
static inline const int64_t *tm_works_sums(const tm_works *works, size_t i, tm_works_kind work) {
    return (const int64_t *)(const void *)(tm_works_at(works, i) + 1) + work * works->n_rows;
}

#endif
