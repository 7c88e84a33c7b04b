/* One matched operation of a store, with all participations. */
#ifndef TMERGE_SERVE_OPERATION_H
#define TMERGE_SERVE_OPERATION_H

#include "serve/tile.h"

typedef struct tm_meetings tm_meetings;

/** Indexes the collectives of a store.
 * @param tiler  must outlive the meetings
 * @param out    closed by the caller, before tiler->events; set only on TM_OK
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_meetings_open(const tm_tiler *tiler, tm_meetings **out, tm_error *err) TM_MUST_CHECK;
void tm_meetings_close(tm_meetings *meetings);

/** Writes the operation of a kernel, which tools/web/src/timeline/decode.ts reads:
 * - number of participating ranks, then the ranks;
 * - names;
 * - a list of operations, encoded as in the page (report/timeline_operations.h). It contains one
 *   operation, or none if the kernel was not matched. The encoding refers to a rank by its index
 *   among the participating ranks.
 *
 * @param rank      rank of the kernel
 * @param begin_ns  the kernel's start, from the job's start
 * @param out       empty; freed by the caller, also after a failure
 * @return          TM_OK; TM_ERR_USAGE: the store does not have the rank; TM_ERR_INPUT;
 *                  TM_ERR_FAULT */
tm_status tm_meeting_put(tm_meetings *meetings, int64_t rank, int64_t begin_ns, tm_bytes *out,
                         tm_error *err) TM_MUST_CHECK;

#endif
