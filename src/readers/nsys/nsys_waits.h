/* The waits in an export, and the CUDA events that they wait for. Private to the reader of Nsight
 * Systems exports. */
#ifndef TMERGE_NSYS_WAITS_H
#define TMERGE_NSYS_WAITS_H

#include "nsys_emit.h"

#define TM_NSYS_RECORD_COLUMNS                                                                     \
    "start", "end", "globalPid", "contextId", "streamId", "correlationId", "eventId", "eventSyncId"
#define TM_NSYS_WAIT_COLUMNS                                                                       \
    "start", "end", "globalPid", "deviceId", "streamId", "contextId", "correlationId", "syncType", \
        "eventId", "eventSyncId"

/**
 * Keeps a row of CUPTI_ACTIVITY_KIND_CUDA_EVENT. No event is made from it. The function must be
 * called for all of these rows before the first call of tm_nsys_wait_row.
 * @return TM_OK; TM_ERR_FAULT
 */
tm_status tm_nsys_record_row(tm_nsys_emitter *e, sqlite3_value **values,
                             tm_error *err) TM_MUST_CHECK;

/**
 * Makes an event and a wait from a row of CUPTI_ACTIVITY_KIND_SYNCHRONIZATION.
 * @return TM_OK; TM_ERR_FAULT
 */
tm_status tm_nsys_wait_row(tm_nsys_emitter *e, sqlite3_value **values, tm_error *err) TM_MUST_CHECK;

#endif
