/* Infers for which event of another stream an event waited, if this is not recorded. */
#ifndef TMERGE_REPLAY_WAIT_PAIRS_H
#define TMERGE_REPLAY_WAIT_PAIRS_H

#include "base/keys.h"
#include "rank_events.h"

/** An event may have waited for another one that seems to end up to this long after its start. */
enum { TM_PAIR_SLACK_NS = 2000 };

/** Hashes of pairs of places: of an event that may have been waited for, and of the event that
 * waited. Equal on all ranks of a stage. */
typedef struct tm_pairs {
    tm_keys broken; /* of uint64_t: disproved pairs: on some rank, the second event started before
                       the first had ended */
    tm_keys tight;  /* of uint64_t: pairs in which, on some rank, the second event started just
                       after the first had ended */
} tm_pairs;

#define TM_PAIRS() ((tm_pairs){TM_KEYS(uint64_t), TM_KEYS(uint64_t)})

/** Event @p event waited for event @p source to end (indices in tm_draft). */
typedef struct tm_part_wait {
    uint32_t event, source;
} tm_part_wait;

/** Adds the evidence of a rank. TM_OK; TM_ERR_FAULT. */
tm_status tm_pairs_survey(const tm_draft *draft, tm_pairs *pairs, tm_error *err) TM_MUST_CHECK;

/**
 * Infers the waits of a rank. An event may have waited if a call made its stream wait after the
 * launch of the previous event there. It is paired, for each other stream, with the latest event
 * that was launched before it and had ended; pairs in `broken` are skipped. On a rank without calls
 * that make a stream wait, only pairs in `tight` are used.
 *
 * @param pairs  of all ranks
 * @param waits  of tm_part_wait, appended to, ascending in event
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_pairs_pick(const tm_draft *draft, const tm_pairs *pairs, tm_vec *waits,
                        tm_error *err) TM_MUST_CHECK;

void tm_pairs_free(tm_pairs *pairs);

#endif
