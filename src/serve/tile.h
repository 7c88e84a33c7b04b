/* A window of the timeline as bytes, in more detail than the page holds. */
#ifndef TMERGE_SERVE_TILE_H
#define TMERGE_SERVE_TILE_H

#include "report/timeline_bytes.h"
#include "serve/events.h"
#include "serve/levels.h"

/** What tiles are made from; borrowed. */
typedef struct tm_tiler {
    tm_serve_events *events;
    tm_serve_levels *levels; /* NULL: the store has none */
    const tm_names *names;
    int64_t begin_ns; /* of the job, since the epoch */
} tm_tiler;

/** What the times of a rank are moved by. Where they count from 0 in a job of which others tell the
 * day they are drawn as if they began with it, as in the page. */
int64_t tm_tiler_shift(const tm_tiler *tiler, const tm_timeline *rank);

typedef struct tm_tile_wish {
    int64_t from, to;     /* [ns] from the job's begin, from < to, both below 2^53 */
    const int64_t *ranks; /* [n_ranks] ascending */
    size_t n_ranks;
    const int64_t *hosts; /* [n_hosts] ascending: those of whom the host's events are wanted, too */
    size_t n_hosts;
    bool shares; /* these alone, for maps and hosts that are folded: no events */
} tm_tile_wish;

/**
 * Makes a tile (tools/web/src/timeline/tile.ts reads it): version, number of ranks; of each whether
 * its GPU events and its host's are in it, number of buckets and, where there are any, exponent of
 * their width, begin of the first one, and shares (levels.h); names; number of events; number of
 * bytes and events as in the page (report/timeline_events.h), where a rank's place is its place in
 * the tile, and no operation has a number; number of bytes and what is told of them besides
 * (report/timeline_details.h). The host's events begin with the calls that launched those of the
 * GPU in the window, where these are not too many.
 *
 * @param out  empty; freed by the caller whatever comes of it
 * @return     TM_OK; TM_ERR_USAGE: a rank that the store does not have; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_tile_make(const tm_tiler *tiler, const tm_tile_wish *wish, tm_bytes *out,
                       tm_error *err) TM_MUST_CHECK;

#endif
