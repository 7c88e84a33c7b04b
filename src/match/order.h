/* Whether ends of kernels contradict their order. */
#ifndef TMERGE_ORDER_H
#define TMERGE_ORDER_H

#include "records.h"

/**
 * Compares two sequences of the same kinds and sizes. Each may lack one kernel, and another one:
 * then the kernels between are off by one. That shows where the ends at one place lie apart, and
 * the end of a kernel few places away lies where it should; or where, for one kernel alone, the two
 * did not run at the same time. Or the recordings begin at different operations: then all ends lie
 * better at other places. Late ends, drift and clocks that were set show no such thing, so that
 * they leave an order as it is. Of single kernels those count that synchronise, if any does: others
 * need not end together. Ends on hosts lie apart by what their threads wait for a core, so that
 * there only counts whether the two can have run at the same time.
 *
 * @param a, b  [n] in order
 */
bool tm_order_holds(const tm_end *a, const tm_end *b, size_t n);

#endif
