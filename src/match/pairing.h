/* Pairs the kernels of two runs without sequence numbers, and proves the pairing. */
#ifndef TMERGE_PAIRING_H
#define TMERGE_PAIRING_H

#include "run.h"

typedef enum tm_pairing {
    TM_PAIRING_NONE,     /* the runs do not correspond */
    TM_PAIRING_UNPROVEN, /* the runs may correspond, but they fit nearly as well when shifted */
    TM_PAIRING_PROVEN
} tm_pairing;

/**
 * Pairs the kernels of two runs. Normally, signatures give the shift: they must agree for 98 of 100
 * kernels at a shift of up to 16 places. If signatures agree at several shifts, the ends decide. On
 * one clock, the shift with the nearest ends is chosen. On different clocks, the shift with the
 * most constant end differences is chosen.
 *
 * If the ends show that kernels are missing (see tm_order_holds), kernels are paired by their ends
 * instead. On one clock, ends are compared directly. On different clocks, the offset of
 * tm_shift_find is used.
 *
 * The pairing is proven if ends are five times closer than at any other shift, by median or by
 * mean. On different clocks, offset and drift are removed first. Shifts at which signatures do not
 * agree are included, but not shifts that pair kernels of different steps.
 *
 * @param a         prepared
 * @param b         prepared
 * @param partners  [a->n] index of b's kernel, ascending; -1 if there is none
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_pairing_find(const tm_run *a, const tm_run *b, bool one_clock, int64_t *partners,
                          tm_pairing *out, tm_error *err) TM_MUST_CHECK;

#endif
