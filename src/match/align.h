/* The same operation found on all ranks of a group, where neither numbers nor order tell it. */
#ifndef TMERGE_ALIGN_H
#define TMERGE_ALIGN_H

#include "run.h"
#include "timeline/collectives.h"

/** A rank's part in a group: its kernels, and what is found of them. */
typedef struct tm_member {
    tm_run run;
    int64_t *operations; /* [run.n] answer: number of the operation, the same on all ranks; -1 */
    tm_unmatched reason; /* answer: why the rank as a whole is left out, or TM_UNMATCHED_NOT */
} tm_member;

/**
 * Numbers the operations of one group and lane: each member's kernels are brought together with
 * those of a reference, the member with the most (the lowest rank of several; another where fewer
 * than half of the members correspond to it). Two members that both correspond to it must not tell
 * another offset between themselves; that is tried on some pairs.
 *
 * @param members  [n] at least one, each with a kernel, in the order of their ranks; their
 * `apart_ns` are set
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_match_align(tm_member *members, size_t n, tm_error *err) TM_MUST_CHECK;

#endif
