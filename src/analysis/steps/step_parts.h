/* What each step of a rank is made of: backward passes, updates, what is computed again, and what
 * the host logs and saves. */
#ifndef TMERGE_STEP_PARTS_H
#define TMERGE_STEP_PARTS_H

#include "tmerge/analysis.h"

typedef struct tm_step_part {
    int64_t passes, updates;
    int64_t recomputed_ns, work_ns; /* of GPU events, communication left out */
    int64_t logging_ns, saving_ns;
} tm_step_part;

typedef struct tm_step_parts {
    tm_step_part *steps; /* [n] by the timeline's steps; freed by the caller */
    size_t n;            /* 0 where the trace tells of no backward pass and no update */
    bool numbered;       /* autograd's numbers are recorded: passes are known */
} tm_step_parts;

/** What is done in a step is what begins there; of GPU events, what is launched there. TM_OK;
 * TM_ERR_FAULT: then nothing is set. */
tm_status tm_step_parts_find(const tm_rank_view *view, tm_step_parts *out,
                             tm_error *err) TM_MUST_CHECK;

#endif
