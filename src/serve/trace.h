/* A window of the timeline for Perfetto. */
#ifndef TMERGE_SERVE_TRACE_H
#define TMERGE_SERVE_TRACE_H

#include "base/vec.h"
#include "serve/tile.h"

/** Who is exported, besides what tiles are made from. */
typedef struct tm_trace_job {
    const char *const *hosts; /* [ranks of the store] "" where none is known */
    const char *version;      /* of the tool */
    int64_t budget_ns;        /* after so much time no further rank is begun */
} tm_trace_job;

/**
 * Writes the window as tmerge export writes it.
 *
 * @param wish  its hosts do not matter: host threads are written
 * @param out   of char: appended to; holds some of it after a failure
 * @return      TM_OK; TM_ERR_USAGE: more events than a page may hand on, or than are written in
 *              time, or no such rank;
 *              TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_serve_trace(const tm_tiler *tiler, const tm_trace_job *job, const tm_tile_wish *wish,
                         tm_vec *out, tm_error *err) TM_MUST_CHECK;

#endif
