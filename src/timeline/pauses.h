/* Pauses within a trace: a profiler that is switched off and on again, by a schedule that skips
 * steps or by a capture range, leaves several recordings in one trace. */
#ifndef TMERGE_PAUSES_H
#define TMERGE_PAUSES_H

#include "tmerge/timeline.h"

/**
 * Splits spans where the profiler paused. It paused between two marked steps with non-consecutive
 * numbers if nothing was recorded there for at least half a usual step. Users who number every
 * tenth step, or mark some steps and record all, leave no such gap.
 *
 * Each part of a span keeps its source; its counts stay with the first part, the truncation with
 * the last.
 *
 * @param timeline  with its steps
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_timeline_find_pauses(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

#endif
