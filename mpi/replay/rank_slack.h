/* Finds slack: how much later the events of each rank could be without delaying the end of the
 * job. */
#ifndef TMERGE_MPI_REPLAY_RANK_SLACK_H
#define TMERGE_MPI_REPLAY_RANK_SLACK_H

#include "rank_graphs.h"
#include "replay/whatif/plan.h"
#include "replay/whatif/result.h"

/**
 * Finds the slack of each rank and of its events. Sets `ranks` and `slacks` of the result.
 *
 * Collective: over the ranks' comm.
 * @param fixer   the job's fixer, the same on every process
 * @param result  `ranks` and `slacks` must be empty before the call; on every process, they then
 *                contain all ranks
 * @return        TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_slack(const tm_replay_ranks *ranks, const tm_fixer *fixer,
                       tm_replay_result *result, tm_error *err) TM_MUST_CHECK;

#endif
