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
 * they leave an order as it is.
 *
 * @param a, b  [n] in order
 */
bool tm_order_holds(const tm_end *a, const tm_end *b, size_t n);

/** The ends of one operation on two ranks. */
typedef struct tm_end_pair {
    uint64_t lane;
    int64_t end_ns;    /* on the first of the two */
    int64_t offset_ns; /* of the other's end from that */
    int64_t noise_ns;  /* that it may have */
} tm_end_pair;

/**
 * Whether the operations of several lanes tell one offset between the clocks of two ranks. Those of
 * one lane may be all right among themselves and yet be of other groups than they were taken for,
 * whose ends do not meet; then they contradict those of a lane that is what it was taken for. Only
 * neighbours in time are compared, so that drift and clocks that were set do no harm, and more than
 * half of them must contradict, as a late end does not.
 *
 * @param pairs  [n] in any order; sorted by the call
 */
bool tm_order_lanes_meet(tm_end_pair *pairs, size_t n);

#endif
