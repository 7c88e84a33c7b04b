/* Finds the clock offset of two ranks from the ends of their kernels, before any clock is known. */
#ifndef TMERGE_SHIFT_H
#define TMERGE_SHIFT_H

#include "run.h"
#include "timeline/collectives.h"

/** Offset of one rank's ends from those of the reference. */
typedef struct tm_shift {
    size_t centre;     /* mark of the reference around which ends were compared */
    int64_t offset_ns; /* other minus reference at the centre: median of the end differences */
    double drift;      /* growth of the offset with the reference's time */
    size_t least;      /* minimum number of matching kernels; 0: tm_shift_least */
} tm_shift;

/** Returns the minimum number of matching kernels that exceeds chance. */
size_t tm_shift_least(const tm_run *ref, const tm_run *other);

/**
 * Finds the offset by trial. A kernel of the reference is assumed to be the same operation as each
 * of the kernels at a similar index in the other run, in its step, or at a similar time of day (up
 * to 512 places around each of these three), and up to 64 kernels around it are compared. Several
 * kernels are tried, because the other rank may lack one. At the true offset the end differences
 * are constant except for microseconds of noise and drift; at a wrong one they vary as much as the
 * work between two collectives. An offset is accepted if tokens and steps agree for 98 of 100
 * matching kernels, the spread is within the noise, and no other offset is nearly as good.
 *
 * Clocks need not agree, recordings need not start together, and kernels may be missing.
 *
 * @param ref    prepared, as is @p other
 * @param out    set only on TM_UNMATCHED_NOT
 * @return       TM_UNMATCHED_NOT; TOO_FEW, TOKENS, INCOHERENT or AMBIGUOUS: offset unknown
 */
tm_unmatched tm_shift_find(const tm_run *ref, const tm_run *other, tm_shift *out) TM_MUST_CHECK;

#endif
