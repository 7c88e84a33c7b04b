/* Pauses inside of a trace: a profiler that is switched off and on again, as a schedule that skips
 * steps or a range of capture does it, leaves several recordings in one trace. */
#ifndef TMERGE_PAUSES_H
#define TMERGE_PAUSES_H

#include "tmerge/timeline.h"

/**
 * Splits spans where the profiler paused. It paused between two marked steps whose numbers do not
 * follow one another if nothing was recorded there for at least half of a usual step: a user who
 * numbers every tenth step, or marks some and records all, leaves no such gap.
 *
 * Each part of a span has its source; its counts stay with the first, that it was cut with the
 * last.
 *
 * @param timeline  with its steps
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_timeline_find_pauses(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

#endif
