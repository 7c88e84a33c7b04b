/* The kernels of two ranks brought together along the offset of their clocks. */
#ifndef TMERGE_BAND_H
#define TMERGE_BAND_H

#include "shift.h"

/**
 * Pairs marks of the reference with those of another run, from the shift's centre outwards. Kernels
 * that either rank lacks are passed over: each pair must meet in time by itself, within a band of
 * half the way to the next operation of its token. The offset follows the clocks' drift, 64 kernels
 * at a time, and the pairing ends where they stop being coherent.
 *
 * What synchronises must have run on both ranks at the same time for half of the shorter kernel;
 * that tells a late end from the next operation. Anything else need not end together: it has its
 * place between what synchronises, which tells it where one of the ranks lacks no kernel. Where
 * nothing synchronises, it must end together within its noise.
 *
 * @param ref       prepared, as is @p other
 * @param partners  [ref->n] the index of the other's mark, or -1; ascending. All -1 unless matched
 * @return          TM_UNMATCHED_NOT; TOO_FEW, TOKENS or INCOHERENT: the runs do not correspond
 */
tm_unmatched tm_band_pair(const tm_run *ref, const tm_run *other, const tm_shift *shift,
                          int64_t *partners) TM_MUST_CHECK;

#endif
