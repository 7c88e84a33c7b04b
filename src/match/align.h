/* Aligns the operations of a group's ranks that neither sequence numbers nor their order
 * identify. */
#ifndef TMERGE_ALIGN_H
#define TMERGE_ALIGN_H

#include "run.h"
#include "timeline/collectives.h"

/** A rank's kernels in a group, and the result of their alignment. */
typedef struct tm_member {
    tm_run run;
    int64_t *operations; /* [run.n] result: number of each kernel's operation, the same on all
                            ranks; -1: none */
    tm_unmatched reason; /* result: why all kernels of the rank are left out, or TM_UNMATCHED_NOT */
} tm_member;

/**
 * Numbers the operations of one group and stream. Each member's kernels are paired with those of a
 * reference: the member with the most kernels, or the lowest rank of several such members. If fewer
 * than half of the members correspond to it, another reference is tried. For some pairs of members
 * that correspond to the reference, it is checked that their own offset agrees.
 *
 * @param members  [n] at least one, each with a kernel, in rank order; sets their `apart_ns`
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_match_align(tm_member *members, size_t n, tm_error *err) TM_MUST_CHECK;

#endif
