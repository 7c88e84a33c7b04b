/* Finds the backward passes of a rank. */
#ifndef TMERGE_MEMORY_BACKWARD_H
#define TMERGE_MEMORY_BACKWARD_H

#include "base/vec.h"
#include "tmerge/analysis.h"

/** A backward pass of one batch or micro-batch. */
typedef struct tm_backward_pass {
    int64_t begin_ns, end_ns; /* start of the pass's first operator and end of its last */
    bool ended; /* whether the main thread ran an operator after the pass; if not, the trace may end
                   within the pass */
} tm_backward_pass;

/**
 * Finds the backward passes. A pass is a series of autograd operators on any thread. The main
 * thread waits during a pass, so it calls no other operator. The main thread is the thread with the
 * most operators that are not autograd's.
 * @param out  vector of tm_backward_pass, ascending; the caller frees it, also on failure
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_backward_passes_find(const tm_rank_view *view, tm_vec *out,
                                  tm_error *err) TM_MUST_CHECK;

/** Returns the index of the first pass that ends after a time; the number of passes if there is
 * none. */
size_t tm_backward_pass_at(const tm_vec *passes, int64_t time_ns);

#endif
