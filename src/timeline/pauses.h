/* Pauses within a trace. If a profiler is switched off and on again, by a schedule that skips steps
 * or by a capture range, one trace contains several recordings. */
#ifndef TMERGE_PAUSES_H
#define TMERGE_PAUSES_H

#include "tmerge/timeline.h"

/**
 * Splits spans where the profiler paused: between two marked steps with non-consecutive numbers, if
 * nothing was recorded for at least half of the usual length of a step. (If the program marks only
 * every tenth step, there is no such gap.) All parts of a span keep its source, only the first part
 * keeps its counts, and only the last part keeps its `truncated`.
 *
 * @param timeline  with known steps
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_timeline_find_pauses(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

#endif
