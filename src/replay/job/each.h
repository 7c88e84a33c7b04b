/* Computes for each group of ranks (a rank, host or stage) what the job's time T would be if only
 * this group had other weights. */
#ifndef TMERGE_REPLAY_EACH_H
#define TMERGE_REPLAY_EACH_H

#include "replay/job/replay_job.h"

/** Weight sets: `own` is for the group under test, `others` for all other groups. */
typedef struct tm_replay_sets {
    uint8_t own, others;
} tm_replay_sets;

/** Number of groups that are evaluated at once. */
enum { TM_EACH_LANES = 8 };

/** A job, reduced to the links that can be the longest. Between two operations, two links are kept:
 * the longest link, and the longest link of all groups except the first link's group. The second
 * link is needed when the first link's group is under test. */
typedef struct tm_each {
    const tm_replay *replay; /* borrowed */
    tm_replay_sets sets;
    size_t *first; /* owned; [targets + 1] index of the first pair that leads to the target */
    tm_vec pairs;  /* owned */
    void *own;     /* owned; [links] links sorted by target, then by group */
    void *ns;      /* owned; [targets] times of the current groups */
    int64_t *ends; /* owned; [steps] */
} tm_each;

/**
 * Reduces a job. False when out of memory. The caller must free it in either case.
 *
 * @param groups  [ranks] group of each rank; UINT32_MAX: no group
 */
bool tm_each_open(tm_each *each, const tm_replay *replay, tm_replay_sets sets,
                  const uint32_t *groups) TM_MUST_CHECK;
void tm_each_free(tm_each *each);

/**
 * Computes T for several groups. For each group, only the ranks of this group have the weights
 * `own`.
 *
 * @param first   first group
 * @param n       number of groups, at most TM_EACH_LANES
 * @param totals  [n] set to T for each group
 */
void tm_each_totals(const tm_each *each, size_t first, size_t n, int64_t *totals);

#endif
