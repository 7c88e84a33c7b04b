/* Detects kernel ends that contradict the assumed order of two sequences. */
#ifndef TMERGE_ORDER_H
#define TMERGE_ORDER_H

#include "records.h"

/**
 * Returns whether the ends of two sequences with the same kinds and sizes are consistent with
 * pairing them place by place.
 *
 * The order is contradicted in these cases:
 * - Each sequence lacks a different kernel, so that the kernels between the two gaps are off by
 * one. The ends at the same place are then far apart, while an end a few places away matches.
 * - A single kernel cannot have run at the same time on both ranks.
 * - The recordings begin at different operations, so that all ends match better at shifted places.
 * Late ends, drift and stepped clocks show none of these patterns and leave the order valid. If any
 * kernel synchronises, only synchronising kernels are compared one by one, because the others need
 * not end together. On hosts, ends differ by the time that threads wait for a core; there,
 * apart from shifts, the only test is whether the two can have run at the same time.
 *
 * @param a, b  [n] in order
 */
bool tm_order_holds(const tm_end *a, const tm_end *b, size_t n);

#endif
