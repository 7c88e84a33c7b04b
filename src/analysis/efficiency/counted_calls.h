/* A rank's operators whose work is known, with the kernels that did it. */
#ifndef TMERGE_COUNTED_CALLS_H
#define TMERGE_COUNTED_CALLS_H

#include "analysis/shared/calls.h"
#include "analysis/shared/kernel_traits.h"
#include "base/keys.h"
#include "tmerge/analysis.h"
#include "work.h"

/** No counted call. */
#define TM_NOT_COUNTED UINT32_MAX

/** One call that owns kernels: it is the innermost counted operator that was open when they were
 * launched. */
typedef struct tm_counted_call {
    const tm_work *work;   /* borrowed of the list */
    uint32_t name, shapes; /* name ids */
    uint8_t number;        /* tm_number: also by its kernels' names */
    bool forward;    /* it is one of the forward pass alone, or lies in one: the product of matrices
                        of a linear layer; by itself that may be of the backward pass, too */
    bool recomputed; /* such a one inside of the backward pass */
    uint32_t first;  /* its first kernel: an event row; TM_NO_EVENT where it owns none */
    int64_t kernel_ns;  /* of all kernels that it owns */
    int64_t product_ns; /* of these of the classes that multiply; all where there are none */
} tm_counted_call;

typedef struct tm_counted_calls {
    tm_counted_call *list; /* [n] by row; owned */
    size_t n;
    uint32_t *of_operator; /* by operator call: the counted call that owns what it launched, or
                              TM_NOT_COUNTED; NULL where they are of no operators; owned */
    tm_work *works;        /* owned: of different inputs */
} tm_counted_calls;

/** Finds the calls of a rank; release them with tm_counted_calls_free whatever comes of it. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_counted_calls_find(const tm_rank_view *view, tm_counted_calls *out,
                                tm_error *err) TM_MUST_CHECK;

/** The same of a rank whose programs XLA compiled: each run of an operation that computes and whose
 * FLOP its profile tells, those that move memory alone with none. */
tm_status tm_compiled_calls_find(const tm_rank_view *view, tm_counted_calls *out,
                                 tm_error *err) TM_MUST_CHECK;
void tm_counted_calls_free(tm_counted_calls *calls);

/** The counted call that owns a kernel, or NULL. */
static inline tm_counted_call *tm_counted_owner(const tm_counted_calls *calls,
                                                const tm_rank_view *view, uint32_t row) {
    uint32_t call = calls->of_operator ? view->operators->above[row] : TM_NO_CALL;
    uint32_t own = call == TM_NO_CALL ? TM_NOT_COUNTED : calls->of_operator[call];
    return own == TM_NOT_COUNTED ? NULL : &calls->list[own];
}

#endif
