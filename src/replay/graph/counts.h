/* Finds names that the ranks of a role run unequally often in a step. An extra event on one rank
 * would shift the occurrence indices of all later events of the same name. Occurrences of such
 * names are therefore counted from 0 in each stretch of the step. A stretch is the time from one
 * launch of communication to the next. */
#ifndef TMERGE_REPLAY_COUNTS_H
#define TMERGE_REPLAY_COUNTS_H

#include "base/keys.h"
#include "replay/graph/rank_events.h"

/** How often a rank runs a name in a step. The range is the minimum and the maximum over those
 * ranks of a role that run the name at all. Sent as bytes. */
typedef struct tm_count_range {
    uint64_t key; /* hash of the stage, the step and the name */
    int64_t least, most;
} tm_count_range;

typedef struct tm_counts {
    tm_keys keys;  /* keys of type uint64_t */
    tm_vec ranges; /* vector of tm_count_range; element i belongs to key i */
} tm_counts;

#define TM_COUNTS() ((tm_counts){TM_KEYS(uint64_t), TM_VEC(tm_count_range)})

void tm_counts_free(tm_counts *counts);

/** Merges @p range into the stored range that has the same key. False when out of memory. */
bool tm_counts_add(tm_counts *counts, const tm_count_range *range) TM_MUST_CHECK;

/** Adds how often a rank runs each name in each marked step. TM_OK; TM_ERR_FAULT. */
tm_status tm_counts_scan(const tm_graph_input *input, tm_counts *counts,
                         tm_error *err) TM_MUST_CHECK;

/** Position of an event or call among those of the same name. */
typedef struct tm_count_spot {
    uint32_t stretch; /* number of the stretch in its step, counted from 1. If the number is 0,
                         `nth` counts over the whole step */
    uint32_t nth;
} tm_count_spot;

/**
 * Finds the positions of a rank's events and calls.
 * @param uneven  keys (uint64_t) of the ranges whose minimum and maximum differ
 * @return        positions of the events, then of the calls. The caller owns the array. NULL when
 *                out of memory.
 */
tm_count_spot *tm_counts_spots(const tm_graph_input *input, const tm_keys *uneven) TM_MUST_CHECK;

#endif
