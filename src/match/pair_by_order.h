/* Detects kernel ends that contradict the assumed order of two sequences. */
#ifndef TMERGE_PAIR_BY_ORDER_H
#define TMERGE_PAIR_BY_ORDER_H

#include "records.h"

/**
 * Returns whether two sequences of the same kinds and sizes may be paired by position, according to
 * their ends. They may not in these cases:
 * - Each sequence lacks a different kernel: ends at the same place between the gaps are far apart,
 *   while an end a few places away matches.
 * - The two kernels of one place cannot have run at the same time.
 * - The recordings start at different operations: all ends match better at shifted places. Late
 *   ends, drift and stepped clocks show none of these patterns. If some kernels synchronise, only
 *   these are compared one by one, because other kernels need not end together. On hosts, ends also
 *   differ by the time that threads wait for a core: if the recorded times allow the unshifted
 *   order, a shift counts only if they allow the shift, too.
 *
 * @param a,  b  [n] in order
 */
bool tm_order_holds(const tm_end *a, const tm_end *b, size_t n);

#endif
