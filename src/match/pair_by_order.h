/* Detects kernel ends that contradict the assumed order of two sequences. */
#ifndef TMERGE_PAIR_BY_ORDER_H
#define TMERGE_PAIR_BY_ORDER_H

#include "records.h"

/**
 * Returns whether two sequences of equal kinds and sizes may be paired by position, according to
 * their ends. They must not be paired in these cases:
 * - Each sequence lacks a different kernel. Between the two gaps, ends at the same place are far
 *   apart, and an end a few places away matches.
 * - The two kernels at one place cannot have run at the same time.
 * - The recordings start at different operations. All ends match better if one sequence is shifted.
 *
 * Late ends, drift and stepped clocks show none of these patterns.
 *
 * If some kernels synchronise, only these are compared one by one, because other kernels need not
 * end together.
 *
 * If host threads run the operations, ends also differ by the time for which threads wait for a
 * core. Then single ends are not compared. Instead, the two kernels of nearly every synchronising
 * operation must overlap. If they do so on the recorded clocks, a shift counts only if they also do
 * so after the shift.
 *
 * @param a  [n] in order
 * @param b  [n] in order
 */
bool tm_order_holds(const tm_end *a, const tm_end *b, size_t n);

#endif
