/* Finds the times in which a rank computed gradients. */
#ifndef TMERGE_MEMORY_BACKWARD_H
#define TMERGE_MEMORY_BACKWARD_H

#include "base/vec.h"
#include "tmerge/analysis.h"

/** A backward pass of one batch or micro-batch. */
typedef struct tm_backward_pass {
    int64_t begin_ns, end_ns; /* start of the pass's first operator and end of its last */
    bool ended; /* the main thread went on after it, so the trace does not end within the pass */
} tm_backward_pass;

/**
 * Finds the backward passes. A pass is a series of autograd operators, on any thread, during which
 * the main thread waits, so that it calls no other operator in between. The main thread is the one
 * with most other operators.
 * @param out  of tm_backward_pass, ascending; free it, also on failure
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_backward_passes_find(const tm_rank_view *view, tm_vec *out,
                                  tm_error *err) TM_MUST_CHECK;

/** Returns the first pass that ends after a time; n if there is none. */
size_t tm_backward_pass_at(const tm_vec *passes, int64_t time_ns);

#endif
