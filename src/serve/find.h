/* A search over all events of a store, some at a time. */
#ifndef TMERGE_SERVE_FIND_H
#define TMERGE_SERVE_FIND_H

#include "base/vec.h"
#include "report/timeline_events.h"
#include "serve/request.h"
#include "serve/tile.h"

enum { TM_FIND_MOST = 8192 };

typedef struct tm_finder tm_finder;

/**
 * Looks once at what each name is of.
 * @param tiler  used as long as the finder is
 * @param out    closed by the caller, before the events; set only on TM_OK
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_finder_open(const tm_tiler *tiler, tm_finder **out, tm_error *err) TM_MUST_CHECK;
void tm_finder_close(tm_finder *finder);

/** How many events have each name. [names of the tiler] */
const uint32_t *tm_finder_counts(const tm_finder *finder);

/** Where a search goes on: behind the events that it has seen, at a multiple of 1024 rows. */
typedef struct tm_find_place {
    int64_t block; /* of 1024 rows, counted over all ranks */
    /* until when what was found of the track reaches that goes on there [ns from the job's begin]:
     * 0, GPU annotations; 1, the host's */
    int64_t reach[2];
} tm_find_place;

typedef struct tm_find_wish {
    const tm_serve_range *names, *ranks; /* [n_names], [n_ranks]; of no ranks: all */
    size_t n_names, n_ranks;
    unsigned kinds;       /* bits 1 << tm_shown_kind */
    int64_t above, below; /* of durations [ns]; both are out */
    int64_t longer;       /* of those that are listed [ns] */
    tm_find_place from;
    int64_t budget_ns; /* it ends at the first place behind so much time */
} tm_find_wish;

typedef struct tm_found_event {
    int64_t rank, begin_ns, duration_ns; /* begin from the job's */
    uint32_t name;
    uint8_t kind; /* tm_shown_kind, or the kind of lane */
} tm_found_event;

typedef struct tm_found_sum {
    int64_t count, sum_ns, longest_ns;
} tm_found_sum;

typedef struct tm_found {
    tm_found_sum kinds[TM_N_SHOWN_KINDS];
    int64_t once_ns[2]; /* as tm_find_place.reach: what is nested on a track counts once */
    tm_vec events;      /* of tm_found_event: up to TM_FIND_MOST that are longest; of equals those
                           that stand first in the store. By duration, the longest first */
    tm_find_place next;
    int64_t blocks; /* of the store: all were seen where next.block is that */
} tm_found;

/**
 * @param out  its events are the caller's, also after a failure
 * @return     TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_find(tm_finder *finder, const tm_find_wish *wish, tm_found *out,
                  tm_error *err) TM_MUST_CHECK;

#endif
