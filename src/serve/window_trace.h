/* Exports a window of the timeline for Perfetto. */
#ifndef TMERGE_SERVE_WINDOW_TRACE_H
#define TMERGE_SERVE_WINDOW_TRACE_H

#include "base/vec.h"
#include "serve/tile.h"

/** Inputs of an export besides the tiler. */
typedef struct tm_trace_job {
    const char *const *hosts; /* [number of the store's ranks] name of each rank's host; "" if
                                 unknown */
    const char *version;      /* version of tmerge */
    int64_t budget_ns;        /* time limit [ns], after which no further rank is started */
} tm_trace_job;

/** Writes the same trace as `tmerge export` writes for the window.
 *
 * @param wish  the window and the ranks. Its `hosts` are ignored, because host threads are always
 *              written
 * @param out   vector of char: the trace, or after a failure a part of it, is appended
 * @return      TM_OK; TM_ERR_USAGE: too many events for one answer, time is up, or no such rank;
 *              TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_serve_trace(const tm_tiler *tiler, const tm_trace_job *job, const tm_tile_wish *wish,
                         tm_vec *out, tm_error *err) TM_MUST_CHECK;

#endif
