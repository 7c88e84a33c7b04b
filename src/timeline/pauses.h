/* Pauses within a trace: a profiler that is switched off and on again, by a schedule that skips
 * steps or by a capture range, makes several recordings in one trace. */
#ifndef TMERGE_PAUSES_H
#define TMERGE_PAUSES_H

#include "tmerge/timeline.h"

/**
 * Splits spans where the profiler paused. It paused between two marked steps with non-consecutive
 * numbers if nothing was recorded there for at least half a usual step. (There is no such gap if a
 * user numbers every tenth step, or marks only some of the recorded steps.) Each part of a span has
 * the source of the span; the first part gets the counts, the last one `truncated`.
 *
 * @param timeline  with its steps
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_timeline_find_pauses(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

#endif
