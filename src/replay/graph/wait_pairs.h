/* Infers waits between streams that the trace does not record: for which event of another stream an
 * event waited. */
#ifndef TMERGE_REPLAY_WAIT_PAIRS_H
#define TMERGE_REPLAY_WAIT_PAIRS_H

#include "base/keys.h"
#include "rank_events.h"

/** Times are inexact. If event B waited for event A, A may still seem to end after B starts. The
 * difference is at most this [ns]. */
enum { TM_PAIR_SLACK_NS = 2000 };

/** What the times of ranks show about pairs of events: whether the second event can have waited for
 * the first event. The key of a pair is a hash of the first event's name and occurrence index, the
 * second event's name and occurrence index, the difference of their steps, and the stage. It is
 * equal on all ranks of a stage. */
typedef struct tm_pairs {
    tm_keys broken; /* keys of type uint64_t: disproved pairs. On some rank, the second event
                       started before the first event ended */
    tm_keys tight;  /* keys of type uint64_t: pairs whose second event started just after the first
                       event ended, on some rank */
} tm_pairs;

#define TM_PAIRS() ((tm_pairs){TM_KEYS(uint64_t), TM_KEYS(uint64_t)})

/** Event @p event waited for event @p source to end (indices in tm_graph_input). */
typedef struct tm_part_wait {
    uint32_t event, source;
} tm_part_wait;

/** Adds a rank's pairs. TM_OK; TM_ERR_FAULT. */
tm_status tm_pairs_scan(const tm_graph_input *input, tm_pairs *pairs, tm_error *err) TM_MUST_CHECK;

/**
 * Infers the waits of a rank.
 *
 * An event may have waited if a call made a stream wait after the launch of the previous event on
 * the event's stream. It then waited for one event of every other stream. This is the latest event
 * that was launched before the waiting event, that had ended when the waiting event started, and
 * whose pair is not in `broken`.
 *
 * If the rank has no calls that make a stream wait, each event may have waited. An event of a CUDA
 * graph may always have waited for other events of the graph, because no call asks for such waits.
 * The pair must then also be in `tight`.
 * @param pairs  pairs of all ranks
 * @param waits  vector of tm_part_wait to which the waits are appended, ascending in event
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_pairs_pick(const tm_graph_input *input, const tm_pairs *pairs, tm_vec *waits,
                        tm_error *err) TM_MUST_CHECK;

void tm_pairs_free(tm_pairs *pairs);

#endif
