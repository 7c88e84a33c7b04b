/* Moves what nothing explains to the ends of steps.
 *
 * Where a trace holds no launches, what lies between an operation and what it follows may be slack
 * or may have had to be; the replay without any of it is some per cent shorter than what was
 * recorded, so nearly all of it is slack. Kept where it is, it would hold up what a scenario makes
 * faster. */
#ifndef TMERGE_REPLAY_OPS_SETTLE_H
#define TMERGE_REPLAY_OPS_SETTLE_H

#include "replay/job.h"

/**
 * Gives a graph of tm_ops_graph the times of the replay: within a step everything is when it would
 * be without lags, and the step ends when it was recorded to, by a lag behind its last operations.
 *
 * @param job  of the graphs of all ranks, reduced with tm_ops_weigh
 * @param ns   of tm_replay_forward with all as recorded
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_ops_settle(tm_graph *graph, const tm_replay *job, const int64_t *ns,
                        tm_error *err) TM_MUST_CHECK;

#endif
