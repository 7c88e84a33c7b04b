/* When a rank computed gradients. */
#ifndef TMERGE_MEMORY_BACKWARD_H
#define TMERGE_MEMORY_BACKWARD_H

#include "base/vec.h"
#include "tmerge/analysis.h"

/** One backward pass, of one batch or micro-batch. */
typedef struct tm_backward_pass {
    int64_t begin_ns, end_ns; /* from its first operator to the end of its last */
    bool ended;               /* the main thread went on: the trace does not end within it */
} tm_backward_pass;

/**
 * Finds the passes: operators of autograd, on whatever thread, between which the main thread calls
 * no other operator. For as long as a pass runs, who asked for it waits. The main thread is the one
 * with most other operators.
 * @param out  of tm_backward_pass, ascending; free it whatever comes of the call
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_backward_passes_find(const tm_rank_view *view, tm_vec *out,
                                  tm_error *err) TM_MUST_CHECK;

/** The first pass that ends behind a time; n where none does. */
size_t tm_backward_pass_at(const tm_vec *passes, int64_t time_ns);

#endif
