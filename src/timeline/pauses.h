/* Pauses within a trace: a profiler that is switched off and on again, by a schedule that skips
 * steps or by a capture range, makes several recordings in one trace. */
#ifndef TMERGE_PAUSES_H
#define TMERGE_PAUSES_H

#include "tmerge/timeline.h"

/**
 * Splits spans where the profiler paused. It paused between two marked steps with non-consecutive
 * numbers if nothing was recorded between them for at least half of the usual length of a step. (If
 * a user numbers every tenth step or marks only some steps, there is no such gap.) All parts of a
 * span have its source; the first part has its counts, the last part its `truncated`.
 *
 * @param timeline  with its steps
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_timeline_find_pauses(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

#endif
