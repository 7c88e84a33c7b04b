/* Where a rank's first step starts, if its host time before the first GPU event counts. */
#ifndef TMERGE_REPLAY_FIRST_STEP_H
#define TMERGE_REPLAY_FIRST_STEP_H

#include "call_class.h"
#include "tmerge/status.h"
#include "tmerge/timeline.h"

typedef struct tm_first_step {
    int64_t number;   /* number of the rank's first step that has a GPU event; INT64_MAX if there is
                         none, or if no annotation marks it */
    int64_t begin_ns; /* start of this step, on the job's clock, shifted (host_shift.h) */
    bool usual; /* the time from there to the step's first launch is like that of the other steps */
} tm_first_step;

/**
 * Finds the rank's first step.
 *
 * The time from a step's start to its first launch is host time, such as loading a batch. In the
 * first recorded step, it may also be the start-up of the profiler or of the program. So it is
 * usual only if it is at most twice as long as in any later step, or if the rank has no other step
 * and recorded events for at least half of it. Up to 1 % of the step is always usual. Nothing is
 * usual if the step's first event waited in a queue after its launch: the device then still worked
 * for earlier steps.
 *
 * @return  TM_OK; TM_ERR_FAULT
 */
tm_status tm_first_step_find(const tm_timeline *timeline, tm_call_classes *classes,
                             tm_first_step *out, tm_error *err) TM_MUST_CHECK;

#endif
