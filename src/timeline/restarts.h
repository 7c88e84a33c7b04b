/* Recordings before and behind a restart of the job: collectives and steps are numbered from the
 * start again, so that a number says which one it is only within a run of the job. */
#ifndef TMERGE_RESTARTS_H
#define TMERGE_RESTARTS_H

#include "tmerge/timeline.h"

/** How many times the job had been restarted by a moment, as far as the rank's recordings say:
 * the sum of TM_COUNT_RESTART over those that had begun. */
int64_t tm_timeline_restarts(const tm_timeline *timeline, int64_t recorded_ns);

/** By how much the steps of a run are numbered higher than those of the run before: 1000000, or
 * 1000000000 where a rank has such numbers itself. @param most  the largest in any run */
#define TM_RUN_STEPS_MAX INT64_C(1000000000)
int64_t tm_run_steps(int64_t most);

/** Counts a restart before a recording, once. @param span  of the timeline */
void tm_timeline_restart_at(tm_timeline *timeline, const tm_span *span);

/**
 * Counts a restart before each recording whose first kernel of some group has a `Seq` that is not
 * above that of the group's last kernel before. Sends and receives count by themselves.
 * @return  TM_OK; TM_ERR_FAULT
 */
tm_status tm_timeline_find_restarts(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

#endif
