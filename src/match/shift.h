/* How far apart the clocks of two ranks are: the offset at which the ends of their kernels meet,
 * found before any clock is known. */
#ifndef TMERGE_SHIFT_H
#define TMERGE_SHIFT_H

#include "run.h"
#include "timeline/collectives.h"

/** Where the ends of one rank stand against those of the reference. */
typedef struct tm_shift {
    size_t centre;     /* the mark of the reference around which they were compared */
    int64_t offset_ns; /* other minus reference at the centre: median of the differences of ends */
    double drift;      /* by which it grows with the reference's time */
    size_t least;      /* kernels that must meet; 0: as tm_shift_least says */
} tm_shift;

/** How many kernels must meet before that is more than chance. */
size_t tm_shift_least(const tm_run *ref, const tm_run *other);

/**
 * Finds the offset by trying what makes a kernel of the reference the same operation as each of
 * those about as far into the other run, into its step, or into the day (all |shifts| <= 512 around
 * the three), and comparing up to 64 kernels around. Several kernels are tried, for the other rank
 * may lack one. For the true offset the differences of ends
 * are constant but for noise of microseconds and drift; for a wrong one they vary as much as the
 * work between two collectives does. An offset is taken where tokens and steps agree in 98 of 100
 * kernels that meet, their spread is within the noise, and no other offset comes near it.
 *
 * Neither clocks need to agree nor the recordings to begin together, and kernels may be missing.
 *
 * @param ref    prepared, as is @p other
 * @param out    set only on TM_UNMATCHED_NOT
 * @return       TM_UNMATCHED_NOT; TOO_FEW, TOKENS, INCOHERENT or AMBIGUOUS: nothing is known
 */
tm_unmatched tm_shift_find(const tm_run *ref, const tm_run *other, tm_shift *out) TM_MUST_CHECK;

#endif
