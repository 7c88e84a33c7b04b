/* Aligns the operations of a group's ranks if neither sequence numbers nor the order identify
 * them. */
#ifndef TMERGE_ALIGN_H
#define TMERGE_ALIGN_H

#include "run.h"
#include "timeline/collectives.h"

/** A rank's kernels in a group, and the result of their alignment. */
typedef struct tm_member {
    tm_run run;
    /* [run.n] Result: the number of each kernel's operation, which is the same on all ranks; -1 if
     * the kernel has none. */
    int64_t *operations;
    tm_unmatched reason; /* result: why all kernels of the rank are left out, or TM_UNMATCHED_NOT */
} tm_member;

/**
 * Assigns numbers to the operations of one group and stream. The reference is the member with the
 * most kernels; of several such members, the one with the lowest rank. The kernels of each other
 * member are paired with those of the reference. If fewer than half of the members correspond to
 * the reference, another reference is tried.
 *
 * The result is checked for some pairs of members that correspond to the reference. An offset is
 * fitted directly between the two members, and their ends in common operations must differ by this
 * offset.
 *
 * @param members  [n] at least one, each with a kernel, in the order of ranks; the call also sets
 *                 their `apart_ns`
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_match_align(tm_member *members, size_t n, tm_error *err) TM_MUST_CHECK;

#endif
