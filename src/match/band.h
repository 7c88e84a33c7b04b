/* Pairs the kernels of two ranks by their clock offset. */
#ifndef TMERGE_BAND_H
#define TMERGE_BAND_H

#include "shift.h"

/**
 * Pairs marks of the reference with those of another run, from the shift's centre outwards. The two
 * kernels of a pair must have the same end, within half the distance to the next operation with the
 * same token; so kernels that one rank lacks are skipped. The offset is updated every 64 kernels to
 * follow clock drift. Pairing stops where ends no longer agree with the offset.
 *
 * The two kernels of a synchronising operation must overlap for half of the shorter one: this
 * distinguishes a late end from the next operation. Other kernels need not end together. They are
 * paired by their position between synchronising kernels if at least one of the ranks has all
 * kernels. In runs without synchronising kernels, ends must agree within their noise.
 *
 * @param ref       prepared, like @p other
 * @param partners  [ref->n] index of the partner in @p other, or -1; ascending. All are -1 if the
 *                  runs do not correspond
 * @return          TM_UNMATCHED_NOT; TOO_FEW, TOKENS or INCOHERENT: the runs do not correspond
 */
tm_unmatched tm_band_pair(const tm_run *ref, const tm_run *other, const tm_shift *shift,
                          int64_t *partners) TM_MUST_CHECK;

#endif
