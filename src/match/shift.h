/* Finds the clock offset of two ranks from the ends of their kernels, before any clock is known. */
#ifndef TMERGE_SHIFT_H
#define TMERGE_SHIFT_H

#include "run.h"
#include "timeline/collectives.h"

/** How the clock of another run differs from the reference's clock. */
typedef struct tm_shift {
    size_t centre; /* index of the mark of the reference around which ends were compared */
    /* the other run's clock minus the reference's at the centre: median of the end differences */
    int64_t offset_ns;
    double drift; /* change of the offset per time on the reference's clock */
    size_t least; /* minimum number of matching kernels; 0: use tm_shift_least */
} tm_shift;

/** Returns how many kernels must match so that the match is no coincidence. */
size_t tm_shift_least(const tm_run *ref, const tm_run *other);

/**
 * Finds the offset by trial. Guesses the partner of a kernel of the reference in three ways: the
 * kernel of the other run with the same index in the run, with the same index in the step, and at
 * the same time of day. Tries all kernels up to 512 places before and after each guess as partners,
 * and compares up to 64 kernels for each. Repeats this for several kernels of the reference,
 * because the other rank may lack some kernels. At the true offset, end differences are constant
 * except for microseconds of noise and drift. At a wrong offset, they vary as much as the work
 * between two collectives. An offset is accepted if tokens and steps agree for 98 of 100 matching
 * kernels, the spread is within the noise, and no other offset is nearly as good.
 *
 * Clocks need not agree, recordings need not start together, and kernels may be missing.
 *
 * @param ref  prepared, like @p other
 * @param out  set only on TM_UNMATCHED_NOT
 * @return     TM_UNMATCHED_NOT; TOO_FEW, TOKENS, INCOHERENT or AMBIGUOUS: offset unknown
 */
tm_unmatched tm_shift_find(const tm_run *ref, const tm_run *other, tm_shift *out) TM_MUST_CHECK;

#endif
