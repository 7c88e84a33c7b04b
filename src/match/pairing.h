/* The order of two runs without numbers: which kernel of one is which of the other, and the proof
 * of it. */
#ifndef TMERGE_PAIRING_H
#define TMERGE_PAIRING_H

#include "run.h"

typedef enum tm_pairing {
    TM_PAIRING_NONE,     /* the runs do not correspond */
    TM_PAIRING_UNPROVEN, /* they may, but shifted they do so nearly as well */
    TM_PAIRING_PROVEN
} tm_pairing;

/**
 * Brings the kernels of two runs together. Tokens tell how: they agree in 98 of 100 where one run
 * is shifted against the other by up to 16 places, of several such shifts where ends lie nearest,
 * or the same time apart. Where ends show that kernels are missing (tm_order_holds), it is their
 * ends: on one clock as they are, else what tm_shift_find says.
 *
 * It is proven where ends meet five times nearer, in the median or the mean, than at any other of
 * these shifts, whatever the tokens: as they are on one clock, else after an offset and drift.
 * Shifts that the numbers of steps contradict are none.
 *
 * @param a, b      prepared
 * @param partners  [a->n] the other's kernel, ascending, or -1
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_pairing_find(const tm_run *a, const tm_run *b, bool one_clock, int64_t *partners,
                          tm_pairing *out, tm_error *err) TM_MUST_CHECK;

#endif
