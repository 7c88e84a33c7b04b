/* Infers for which event of another stream an event waited, if the trace does not record it. */
#ifndef TMERGE_REPLAY_WAIT_PAIRS_H
#define TMERGE_REPLAY_WAIT_PAIRS_H

#include "base/keys.h"
#include "rank_events.h"

/** Times are inexact: if event B waited for event A, A may still seem to end after B starts, by at
 * most this. */
enum { TM_PAIR_SLACK_NS = 2000 };

/** What the times of ranks show about pairs of events: whether the second event can have waited for
 * the first. A pair is a hash of (name and occurrence index of the first event, those of the
 * second, difference of their steps, stage). It is equal on all ranks of a stage. */
typedef struct tm_pairs {
    tm_keys broken; /* of uint64_t: disproved pairs: on some rank, the second event started before
                       the first one ended */
    tm_keys tight;  /* of uint64_t: pairs whose second event, on some rank, started just after the
                       first one ended */
} tm_pairs;

#define TM_PAIRS() ((tm_pairs){TM_KEYS(uint64_t), TM_KEYS(uint64_t)})

/** Event @p event waited for event @p source to end (indices in tm_draft). */
typedef struct tm_part_wait {
    uint32_t event, source;
} tm_part_wait;

/** Adds a rank's pairs. TM_OK; TM_ERR_FAULT. */
tm_status tm_pairs_survey(const tm_draft *draft, tm_pairs *pairs, tm_error *err) TM_MUST_CHECK;

/**
 * Infers the waits of a rank. An event may have waited if a call made a stream wait after the
 * launch of the previous event on the event's stream. It then waited for one event of every other
 * stream: the latest one that was launched before it and had ended, unless the pair is in `broken`.
 * If the rank has no calls that make a stream wait, each event may have waited, but only if the
 * pair is in `tight`.
 * @param pairs  of all ranks
 * @param waits  of tm_part_wait, appended to, ascending in event
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_pairs_pick(const tm_draft *draft, const tm_pairs *pairs, tm_vec *waits,
                        tm_error *err) TM_MUST_CHECK;

void tm_pairs_free(tm_pairs *pairs);

#endif
