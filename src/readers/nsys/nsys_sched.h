/* On which core each thread ran, and when. Private to the reader of Nsight Systems exports. */
#ifndef TMERGE_NSYS_SCHED_H
#define TMERGE_NSYS_SCHED_H

#include "nsys_emit.h"

#define TM_NSYS_SCHED_COLUMNS "start", "end", "globalTid", "cpu", "isSchedIn"

/** Keeps a row of SCHED_EVENTS. TM_OK; TM_ERR_FAULT. */
tm_status tm_nsys_sched_row(tm_nsys_emitter *e, sqlite3_value **values,
                            tm_error *err) TM_MUST_CHECK;

/** Makes an event of each time that a thread was on a core, on a track of its own beside the
 * thread's, which is named as the thread is: what runs and what is called cross. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_nsys_add_running(tm_nsys_emitter *e, tm_error *err) TM_MUST_CHECK;

/** The track of what a thread ran on, UINT32_MAX where there is none or memory is out. */
uint32_t tm_nsys_running_track(tm_nsys_emitter *e, int64_t thread, bool make);

#endif
