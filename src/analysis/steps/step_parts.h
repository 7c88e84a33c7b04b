/* Each step of a rank: its backward passes, updates, recomputation, logging and saving. */
#ifndef TMERGE_STEP_PARTS_H
#define TMERGE_STEP_PARTS_H

#include "tmerge/analysis.h"

typedef struct tm_step_part {
    int64_t passes, updates;
    int64_t recomputed_ns, work_ns; /* of GPU events that do not communicate */
    int64_t logging_ns, saving_ns;
} tm_step_part;

typedef struct tm_step_parts {
    tm_step_part *steps; /* [n] in the order of the timeline's steps; freed by the caller */
    size_t n;            /* 0 if the trace shows no backward pass and no update */
    bool numbered;       /* autograd's sequence numbers are recorded, so passes are known */
} tm_step_parts;

/** Finds the structure of each step. Calls belong to the step in which they start, GPU events to
 * the step in which they were launched. Returns TM_OK; TM_ERR_FAULT, with nothing set. */
tm_status tm_step_parts_find(const tm_rank_view *view, tm_step_parts *out,
                             tm_error *err) TM_MUST_CHECK;

#endif
