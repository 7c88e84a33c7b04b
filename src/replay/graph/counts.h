/* Counts how often ranks run each name. If ranks of a role run a name unequally often in a step, an
 * extra event shifts the occurrence indices of all later events of this name. Such names are
 * therefore counted separately in each stretch of the step, i.e. from one launch of communication
 * to the next. */
#ifndef TMERGE_REPLAY_COUNTS_H
#define TMERGE_REPLAY_COUNTS_H

#include "base/keys.h"
#include "replay/graph/rank_events.h"

/** How often the ranks of a role that run a name run it in a step: minimum and maximum. Sent as
 * bytes. */
typedef struct tm_count_range {
    uint64_t key; /* hash of stage, step and name */
    int64_t least, most;
} tm_count_range;

typedef struct tm_counts {
    tm_keys keys;  /* of uint64_t */
    tm_vec ranges; /* of tm_count_range, in the order of `keys` */
} tm_counts;

#define TM_COUNTS() ((tm_counts){TM_KEYS(uint64_t), TM_VEC(tm_count_range)})

void tm_counts_free(tm_counts *counts);

/** Extends a key's range to include a count. False when out of memory. */
bool tm_counts_add(tm_counts *counts, const tm_count_range *range) TM_MUST_CHECK;

/** Adds the counts of a rank's marked steps. TM_OK; TM_ERR_FAULT. */
tm_status tm_counts_survey(const tm_draft *draft, tm_counts *counts, tm_error *err) TM_MUST_CHECK;

/** Position of an event or call among those of the same name. */
typedef struct tm_count_spot {
    uint32_t stretch; /* number of the stretch in its step, from 1; 0: all ranks run the name
                         equally often, and nth counts over the whole step */
    uint32_t nth;
} tm_count_spot;

/**
 * Finds the positions of a rank's events and calls.
 * @param uneven  of uint64_t: keys of ranges whose minimum and maximum differ
 * @return        owned by the caller; [events, then calls]; NULL when out of memory
 */
tm_count_spot *tm_counts_spots(const tm_draft *draft, const tm_keys *uneven) TM_MUST_CHECK;

#endif
