/* A tile: an encoded window of the timeline, which has more detail than the page. */
#ifndef TMERGE_SERVE_TILE_H
#define TMERGE_SERVE_TILE_H

#include "report/timeline_bytes.h"
#include "serve/event_index.h"
#include "serve/serve_levels.h"

/** What tiles are made from. All pointers are borrowed. */
typedef struct tm_tiler {
    tm_serve_events *events;
    tm_serve_levels *levels; /* NULL if the store has no levels */
    const tm_names *names;
    int64_t begin_ns; /* start of the job, since the epoch */
} tm_tiler;

/** Returns the offset [ns] at which a rank's times are drawn. If the rank's times count from 0 and
 * the job has absolute times, the rank is drawn from the start of the job, as in the page. */
int64_t tm_tiler_shift(const tm_tiler *tiler, const tm_timeline *rank);

typedef struct tm_tile_wish {
    int64_t from, to;     /* [ns] from the job's start, from < to, both below 2^53 */
    const int64_t *ranks; /* [n_ranks] ascending */
    size_t n_ranks;
    const int64_t *hosts; /* [n_hosts] ascending; ranks for which host events are requested, in
                             addition to GPU events */
    size_t n_hosts;
    bool shares; /* Write only shares, no events. Maps and folded hosts need no events. */
} tm_tile_wish;

/** Makes a tile, which tools/web/src/timeline/decode.ts reads:
 * - version, number of ranks;
 * - for each rank: whether the tile has its GPU events, whether the tile has its host events, and
 *   its number of buckets. If this number is not 0, log2 of the bucket width, start of the first
 *   bucket, and the shares (serve_levels.h) follow;
 * - names;
 * - number of events;
 * - size [B] of the encoded events, then the events, encoded as in the page
 *   (report/timeline_events.h). The place of a rank is its index in the tile. No event has the
 *   number of an operation;
 * - size [B] of the encoded details of the events, then the details (report/timeline_details.h).
 *
 * Host events include the earlier calls that launched the window's GPU events, unless there are too
 * many.
 *
 * @param out  empty; freed by the caller, also after a failure
 * @return     TM_OK; TM_ERR_USAGE: the store does not have a rank; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_tile_make(const tm_tiler *tiler, const tm_tile_wish *wish, tm_bytes *out,
                       tm_error *err) TM_MUST_CHECK;

#endif
