/* One matched operation of a store, with all who took part in it. */
#ifndef TMERGE_SERVE_OPERATION_H
#define TMERGE_SERVE_OPERATION_H

#include "serve/tile.h"

typedef struct tm_meetings tm_meetings;

/**
 * Looks once where the collectives of a store stand.
 * @param tiler  used as long as the meetings are
 * @param out    closed by the caller, before the events; set only on TM_OK
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_meetings_open(const tm_tiler *tiler, tm_meetings **out, tm_error *err) TM_MUST_CHECK;
void tm_meetings_close(tm_meetings *meetings);

/**
 * Writes the operation of a kernel (tools/web/src/timeline/decode.ts reads it): number of ranks
 * that took part and their numbers; names; operations as in the page, one or, where the kernel was
 * not matched, none (report/timeline_operations.h), where a rank's place is its place among these.
 *
 * @param rank      of the kernel, and
 * @param begin_ns  when it begins, from the job's begin
 * @param out       empty; freed by the caller whatever comes of it
 * @return          TM_OK; TM_ERR_USAGE: a rank that the store does not have; TM_ERR_INPUT;
 *                  TM_ERR_FAULT
 */
tm_status tm_meeting_put(tm_meetings *meetings, int64_t rank, int64_t begin_ns, tm_bytes *out,
                         tm_error *err) TM_MUST_CHECK;

#endif
