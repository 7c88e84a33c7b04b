/* Pairs the kernels of two ranks by their clock offset. */
#ifndef TMERGE_BAND_H
#define TMERGE_BAND_H

#include "shift.h"

/**
 * Pairs marks of the reference with marks of another run, from the shift's centre outwards. After
 * the offset is removed, the ends of a pair must differ by less than half the distance to the next
 * operation with the same signature. In this way, kernels that one rank lacks are skipped. The
 * offset is updated every 64 kernels, so that it follows clock drift. Pairing stops where the ends
 * no longer agree with the offset.
 *
 * The two kernels of a synchronising operation must overlap for half of the shorter one. This
 * distinguishes a late end from the end of the next operation. Kernels that do not synchronise need
 * not end together. They are paired by their position between synchronising kernels if at least one
 * of the ranks has all kernels. In runs without synchronising kernels, the ends must agree within
 * their noise.
 *
 * @param ref       prepared, like @p other
 * @param partners  [ref->n] index of the partner in @p other, ascending; -1 if there is no partner.
 *                  All are -1 if the runs do not correspond.
 * @return          TM_UNMATCHED_NOT; TOO_FEW, SIGNATURES or INCOHERENT if the runs do not
 *                  correspond
 */
tm_unmatched tm_band_pair(const tm_run *ref, const tm_run *other, const tm_shift *shift,
                          int64_t *partners) TM_MUST_CHECK;

#endif
