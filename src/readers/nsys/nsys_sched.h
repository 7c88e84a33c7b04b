/* Which core each thread ran on, and when. Private to the reader of Nsight Systems exports. */
#ifndef TMERGE_NSYS_SCHED_H
#define TMERGE_NSYS_SCHED_H

#include "nsys_emit.h"

#define TM_NSYS_SCHED_COLUMNS "start", "end", "globalTid", "cpu", "isSchedIn"

/**
 * Keeps a row of SCHED_EVENTS.
 * @return TM_OK; TM_ERR_FAULT
 */
tm_status tm_nsys_sched_row(tm_nsys_emitter *e, sqlite3_value **values,
                            tm_error *err) TM_MUST_CHECK;

/**
 * Makes an event from each time that a thread was on a core. The events are on a separate track
 * with the thread's name, because they overlap the thread's calls without being nested in them.
 * @return TM_OK; TM_ERR_FAULT
 */
tm_status tm_nsys_add_running(tm_nsys_emitter *e, tm_error *err) TM_MUST_CHECK;

/** Returns the track for the times at which a thread was on a core. If the track does not exist, it
 * is created if @p make is set. Otherwise, returns UINT32_MAX. */
uint32_t tm_nsys_running_track(tm_nsys_emitter *e, int64_t thread, bool make);

#endif
