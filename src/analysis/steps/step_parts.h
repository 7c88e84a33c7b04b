/* Counts and times of the parts of each step of a rank: backward passes, updates, recomputation,
 * logging, saving. */
#ifndef TMERGE_STEP_PARTS_H
#define TMERGE_STEP_PARTS_H

#include "tmerge/analysis.h"

typedef struct tm_step_part {
    int64_t passes, updates;
    int64_t recomputed_ns, work_ns; /* GPU time, without communication */
    int64_t logging_ns, saving_ns;
} tm_step_part;

typedef struct tm_step_parts {
    tm_step_part *steps; /* [n] in the order of the timeline's steps; the caller frees it */
    size_t n;      /* number of steps; 0 if the trace shows neither a backward pass nor an update */
    bool numbered; /* whether autograd's sequence numbers were recorded; without them, passes are
                      unknown */
} tm_step_parts;

/** Finds the parts of each step. A call belongs to the step in which it starts, and a GPU event to
 * the step in which it was launched. Returns TM_OK; TM_ERR_FAULT, with nothing set. */
tm_status tm_step_parts_find(const tm_rank_view *view, tm_step_parts *out,
                             tm_error *err) TM_MUST_CHECK;

#endif
