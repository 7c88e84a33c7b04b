/* Which event of another stream an event had to wait for, where no record tells. */
#ifndef TMERGE_REPLAY_PAIRS_H
#define TMERGE_REPLAY_PAIRS_H

#include "base/keys.h"
#include "draft.h"

/** An end that is at most so long behind a begin may still have been waited for. */
enum { TM_PAIR_SLACK_NS = 2000 };

/** Pairs of places (the event waited for, the one that waits), by hash: the same on all ranks of a
 * stage. */
typedef struct tm_pairs {
    tm_keys broken; /* of uint64_t: the one began somewhere before the other had ended */
    tm_keys tight;  /* likewise: the one began somewhere just when the other had ended */
} tm_pairs;

#define TM_PAIRS() ((tm_pairs){TM_KEYS(uint64_t), TM_KEYS(uint64_t)})

/** Events by their index in the draft: @p event began after @p source ended. */
typedef struct tm_part_wait {
    uint32_t event, source;
} tm_part_wait;

/** Adds what this rank shows of pairs. TM_OK; TM_ERR_FAULT. */
tm_status tm_pairs_survey(const tm_draft *draft, tm_pairs *pairs, tm_error *err) TM_MUST_CHECK;

/**
 * The waits of a rank. Where a call made the event's stream wait since the event before it was
 * launched, it may have waited for the latest event of each other stream that was launched before
 * it and had ended; one that a pair is broken for anywhere is passed over. A rank without any such
 * call keeps what was tight somewhere.
 *
 * @param pairs  of all ranks
 * @param waits  of tm_part_wait, appended to, ascending in event
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_pairs_pick(const tm_draft *draft, const tm_pairs *pairs, tm_vec *waits,
                        tm_error *err) TM_MUST_CHECK;

void tm_pairs_free(tm_pairs *pairs);

#endif
