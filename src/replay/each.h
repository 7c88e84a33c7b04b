/* T where some ranks have other weights than the rest: of every rank, or host or stage, in turn. */
#ifndef TMERGE_REPLAY_EACH_H
#define TMERGE_REPLAY_EACH_H

#include "replay/job.h"

/** The weights of one group, and of all others. */
typedef struct tm_replay_sets {
    uint8_t own, others;
} tm_replay_sets;

/** So many groups are taken at a time. */
enum { TM_EACH_LANES = 8 };

/** A job of which only those links of the others are left that can be the longest: of all groups
 * that lead from one operation to another, two, for one of them may be the group. */
typedef struct tm_each {
    const tm_replay *replay; /* borrowed */
    tm_replay_sets sets;
    size_t *first; /* owned; [targets + 1] the pairs of each begin here */
    tm_vec pairs;  /* owned */
    void *own;     /* owned; [links] of each target by group */
    void *ns;      /* owned; [targets] times of the groups at hand */
    int64_t *ends; /* owned; [steps] */
} tm_each;

/** False when memory is out; free it in either case.
 * @param groups  [ranks] which group each is of; UINT32_MAX: of none */
bool tm_each_open(tm_each *each, const tm_replay *replay, tm_replay_sets sets,
                  const uint32_t *groups) TM_MUST_CHECK;
void tm_each_free(tm_each *each);

/**
 * T of several groups, each by itself.
 * @param first   the first group
 * @param n       how many, TM_EACH_LANES at most
 * @param totals  [n] out
 */
void tm_each_totals(const tm_each *each, size_t first, size_t n, int64_t *totals);

#endif
