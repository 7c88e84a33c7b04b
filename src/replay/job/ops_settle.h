/* Moves unexplained time to the ends of steps. If a trace has no launches, it is unknown whether
 * the time between an operation and the operations that it follows was needed, or was slack. Nearly
 * all of it is slack: a replay without this time is only a few per cent shorter. If it stayed
 * between operations, it would hide part of what a scenario saves. */
#ifndef TMERGE_REPLAY_OPS_SETTLE_H
#define TMERGE_REPLAY_OPS_SETTLE_H

#include "replay/job/replay_job.h"

/**
 * Sets the times in a graph from tm_ops_graph to the times of the replay. Within a step, operations
 * then follow one another without lags. A single lag before the end of the step makes the step end
 * as recorded.
 *
 * @param job  the graphs of all ranks, reduced with tm_ops_weigh
 * @param ns   times from tm_replay_forward with all ranks as recorded
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_ops_settle(tm_graph *graph, const tm_replay *job, const int64_t *ns,
                        tm_error *err) TM_MUST_CHECK;

#endif
