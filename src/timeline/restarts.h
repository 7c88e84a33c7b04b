/* Recordings before and after a restart of the job. Numbers of collectives and steps start again
 * after a restart, so that they are unique only within a run of the job. */
#ifndef TMERGE_RESTARTS_H
#define TMERGE_RESTARTS_H

#include "tmerge/timeline.h"

/** Returns how many restarts of the job the rank's recordings show before a moment: the sum of
 * TM_COUNT_RESTART over the recordings that had started by then. */
int64_t tm_timeline_restarts(const tm_timeline *timeline, int64_t recorded_ns);

/** Returns the number that each restart adds to the numbers of steps: 1000000, or the larger number
 * TM_RUN_STEPS_MAX if a rank has step numbers of 1000000 or more.
 * @param most  the largest step number in any run */
#define TM_RUN_STEPS_MAX INT64_C(1000000000)
int64_t tm_run_steps(int64_t most);

/** Records that the job was restarted before a recording. Does nothing if a restart before this
 * recording is already recorded. @p span is the recording: an element of timeline->spans. */
void tm_timeline_restart_at(tm_timeline *timeline, const tm_span *span);

/**
 * Records a restart before a recording if, in some group, `Seq` of the recording's first kernel is
 * not above `Seq` of the last kernel before the recording. Compares sends and receives separately.
 * @return  TM_OK; TM_ERR_FAULT
 */
tm_status tm_timeline_find_restarts(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

#endif
