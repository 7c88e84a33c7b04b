/* Search over all events of a store. Each call takes a limited time. */
#ifndef TMERGE_SERVE_FIND_H
#define TMERGE_SERVE_FIND_H

#include "base/vec.h"
#include "report/timeline_events.h"
#include "serve/access.h"
#include "serve/tile.h"

enum { TM_FIND_MOST = 8192 };

typedef struct tm_finder tm_finder;

/** Opens a search index: counts the events of each name once.
 * @param tiler  must outlive the finder
 * @param out    closed by the caller, before tiler->events; set only on TM_OK
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_finder_open(const tm_tiler *tiler, tm_finder **out, tm_error *err) TM_MUST_CHECK;
void tm_finder_close(tm_finder *finder);

/** Returns the number of events of each name, by the tiler's name ids. */
const uint32_t *tm_finder_counts(const tm_finder *finder);

/** Where a search continues: always at the start of a block. */
typedef struct tm_find_place {
    int64_t block; /* number of the block (of 1024 rows), counted over all ranks */
    /* Used if a track continues in this block: the latest end, among the track's events before the
     * block [ns from the job's start]. reach[0] is for GPU annotations, reach[1] for host events.
     */
    int64_t reach[2];
} tm_find_place;

typedef struct tm_find_wish {
    const tm_serve_range *names; /* [n_names] name ids to find */
    const tm_serve_range *ranks; /* [n_ranks] the ranks to search; if n_ranks is 0, all ranks are
                                    searched */
    size_t n_names, n_ranks;
    unsigned kinds;       /* the kinds to find: a set of bits 1 << tm_shown_kind */
    int64_t above, below; /* exclusive limits of the duration [ns] */
    int64_t longer;       /* only longer events are listed [ns] */
    tm_find_place from;
    int64_t budget_ns; /* time limit [ns], after which the search starts no further block */
} tm_find_wish;

typedef struct tm_found_event {
    int64_t rank, begin_ns, duration_ns; /* begin_ns is relative to the job's begin */
    uint32_t name;
    uint8_t kind; /* tm_shown_kind or tm_lane_kind */
} tm_found_event;

typedef struct tm_found_sum {
    int64_t count, sum_ns, longest_ns;
} tm_found_sum;

typedef struct tm_found {
    tm_found_sum kinds[TM_N_SHOWN_KINDS];
    /* Time that the events cover. Time in which several events are nested counts once. once_ns[0]
     * is for GPU annotations, once_ns[1] for host events. */
    int64_t once_ns[2];
    tm_vec events; /* vector of tm_found_event: the TM_FIND_MOST longest events, in descending order
                      of duration. Events of equal duration are in ascending order of rank,
                      begin_ns, name and kind. */
    tm_find_place next;
    int64_t blocks; /* number of blocks in the store. The search is complete when next.block has
                       this value */
} tm_found;

/** Continues a search.
 * @param out  its events are owned by the caller, also after a failure
 * @return     TM_OK; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_find(tm_finder *finder, const tm_find_wish *wish, tm_found *out,
                  tm_error *err) TM_MUST_CHECK;

#endif
