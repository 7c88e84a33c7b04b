/* Whether the cost lies with one rank, or evenly with all ranks of a host or of a process group. */
#ifndef TMERGE_CULPRIT_H
#define TMERGE_CULPRIT_H

#include "verdict.h"

/** A rank's place in one host or process group. */
typedef struct tm_place {
    tm_culprit level; /* TM_CULPRIT_HOST or TM_CULPRIT_GROUP */
    uint64_t unit;    /* which host or group; equal for all its ranks */
    size_t rank;      /* index into the tolls */
} tm_place;

/** What there is to decide on. Borrowed. */
typedef struct tm_culprit_input {
    tm_place *places; /* [n_places] in any order; sorted by tm_culprit_decide */
    size_t n_places;
    const tm_toll *ranks; /* [n_ranks] each rank's sum, ascending in rank */
    size_t n_ranks;
    const tm_leader *leaders; /* [n_leaders] of each step with waits */
    size_t n_leaders;
    int64_t window_ns; /* sum of all ranks' windows */
} tm_culprit_input;

/**
 * Decides as tm_verdict_decide does, for the smallest host or process group whose ranks share the
 * cost, where there is one, as if they were one rank. They do where they are two or more and at
 * most half of all, hold 80 % of all cost, and each of them at least half of their mean.
 *
 * @param among  [n_ranks] set to whether the verdict is about this rank
 * @param out    set only on TM_OK; its rank is the one of most cost, its toll the sum over them
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_culprit_decide(const tm_culprit_input *input, bool *among, tm_verdict *out,
                            tm_error *err) TM_MUST_CHECK;

#endif
