/* T where one rank has other weights than the rest: of every rank in turn. */
#ifndef TMERGE_REPLAY_EACH_H
#define TMERGE_REPLAY_EACH_H

#include "replay/job.h"

/** The weights of one rank, and of all others. */
typedef struct tm_replay_sets {
    uint8_t own, others;
} tm_replay_sets;

/** So many ranks are taken at a time. */
enum { TM_EACH_LANES = 8 };

/** A job of which only those links of the others are left that can be the longest: of all ranks
 * that lead from one operation to another, two, for one of them may be the rank. */
typedef struct tm_each {
    const tm_replay *replay; /* borrowed */
    tm_replay_sets sets;
    size_t *first; /* owned; [targets + 1] the pairs of each begin here */
    tm_vec pairs;  /* owned */
    void *ns;      /* owned; [targets] times of the ranks at hand */
    int64_t *ends; /* owned; [steps] */
} tm_each;

/** False when memory is out; free it in either case. */
bool tm_each_open(tm_each *each, const tm_replay *replay, tm_replay_sets sets) TM_MUST_CHECK;
void tm_each_free(tm_each *each);

/**
 * T of several ranks, each by itself.
 * @param first   the place of the first rank
 * @param n       how many, TM_EACH_LANES at most
 * @param totals  [n] out
 */
void tm_each_totals(const tm_each *each, size_t first, size_t n, int64_t *totals);

#endif
