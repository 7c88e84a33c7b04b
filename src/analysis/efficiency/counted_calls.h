/* A rank's operators with a known amount of work, and the kernels that did it. */
#ifndef TMERGE_COUNTED_CALLS_H
#define TMERGE_COUNTED_CALLS_H

#include "analysis/shared/calls.h"
#include "base/keys.h"
#include "operator_flop.h"
#include "tmerge/analysis.h"

/** No counted call. */
#define TM_NOT_COUNTED UINT32_MAX

/** A call of a counted operator. It owns the kernels that were launched while it was the innermost
 * counted call. */
typedef struct tm_counted_call {
    const tm_work *work;   /* borrowed from tm_counted_calls.works */
    uint32_t name, shapes; /* name ids */
    uint8_t number; /* tm_number of the inputs, or TF32 or FP32 if the kernels' names show that they
                       compute in it */
    bool forward; /* the operator, or an operator around it such as linear, runs only in the forward
                     pass; false for operators that also run in the backward pass, such as matmul */
    bool recomputed;    /* a forward operator that the backward pass runs again */
    uint32_t first;     /* event row of its first kernel; TM_NO_EVENT: no kernel */
    int64_t kernel_ns;  /* duration of all its kernels */
    int64_t product_ns; /* duration of its kernels that multiply; for XLA, of all its kernels */
} tm_counted_call;

typedef struct tm_counted_calls {
    tm_counted_call *list; /* [n] ascending by row; owned */
    size_t n;
    uint32_t *of_operator; /* owned; [operator calls] index in `list` of the counted call that owns
                              the kernels of the operator call; TM_NOT_COUNTED if there is none.
                              NULL for XLA. */
    tm_work *works;        /* owned; the work of each distinct set of inputs */
} tm_counted_calls;

/** Finds the counted calls of a rank. The caller frees them with tm_counted_calls_free, also on
 * failure. Returns TM_OK or TM_ERR_FAULT. */
tm_status tm_counted_calls_find(const tm_rank_view *view, tm_counted_calls *out,
                                tm_error *err) TM_MUST_CHECK;

/** Like tm_counted_calls_find, for a rank that runs programs compiled by XLA. Each run of a compute
 * operation with a known FLOP is a counted call. Operations that only move memory have 0 FLOP. */
tm_status tm_compiled_calls_find(const tm_rank_view *view, tm_counted_calls *out,
                                 tm_error *err) TM_MUST_CHECK;
void tm_counted_calls_free(tm_counted_calls *calls);

/** Returns the counted call that owns a kernel; NULL if there is none. */
static inline tm_counted_call *tm_counted_owner(const tm_counted_calls *calls,
                                                const tm_rank_view *view, uint32_t row) {
    uint32_t call = calls->of_operator ? view->operators->above[row] : TM_NO_CALL;
    uint32_t own = call == TM_NO_CALL ? TM_NOT_COUNTED : calls->of_operator[call];
    return own == TM_NOT_COUNTED ? NULL : &calls->list[own];
}

#endif
