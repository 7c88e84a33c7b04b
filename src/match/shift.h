/* Finds the clock offset of two ranks from the ends of their kernels, before any clock is known. */
#ifndef TMERGE_SHIFT_H
#define TMERGE_SHIFT_H

#include "run.h"
#include "timeline/collectives.h"

/** How the clock of another run differs from the reference's clock. */
typedef struct tm_shift {
    size_t centre; /* index of the mark of the reference around which ends were compared */
    /* The other run's clock minus the reference's clock, at the centre. This is the median of the
     * end differences. */
    int64_t offset_ns;
    double drift; /* change of the offset per nanosecond on the reference's clock */
    size_t least; /* minimum number of matching kernels; 0: use tm_shift_least */
} tm_shift;

/** Returns how many kernels must match so that the match is no coincidence. */
size_t tm_shift_least(const tm_run *ref, const tm_run *other);

/**
 * Finds the offset by trial, as follows. Takes a kernel of the reference, and guesses which kernel
 * of the other run is its partner. There are three guesses: the kernel with the same index in the
 * run, the kernel with the same index in the step, and the kernel at the same time of day. Tries as
 * partners all kernels up to 512 places before and after each guess. To test such a partner,
 * compares up to 64 kernels. Repeats this for several kernels of the reference, because the other
 * rank may lack some kernels.
 *
 * At the true offset, end differences are constant except for microseconds of noise and drift. At a
 * wrong offset, they vary as much as the work between two collectives. An offset is accepted if
 * signatures and steps agree for 98 of 100 matching kernels, the spread is within the noise, and no
 * other offset is nearly as good.
 *
 * Clocks need not agree, recordings need not start together, and kernels may be missing.
 *
 * @param ref  prepared, like @p other
 * @param out  set only if TM_UNMATCHED_NOT is returned
 * @return     TM_UNMATCHED_NOT; TOO_FEW, SIGNATURES, INCOHERENT or AMBIGUOUS if the offset is
 *             unknown
 */
tm_unmatched tm_shift_find(const tm_run *ref, const tm_run *other, tm_shift *out) TM_MUST_CHECK;

#endif
