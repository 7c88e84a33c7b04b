/* Replays a job whose traces contain operations of the training loop instead of kernels: builds the
 * graphs of its ranks, and computes the figures of the paper that introduced such traces
 * (ops_figures.h). */
#ifndef TMERGE_MPI_REPLAY_REPLAY_OPS_H
#define TMERGE_MPI_REPLAY_REPLAY_OPS_H

#include "rank_graphs.h"
#include "replay/job/ops_figures.h"
#include "replay/whatif/result.h"

/** Returns whether each rank's trace contains operations and the rank's position in the job.
 * Collective: over ranks->comm. */
bool tm_mpi_ops_is(const tm_replay_ranks *ranks);

/**
 * Builds the graphs from operations instead of kernels.
 *
 * Collective: over ranks->comm.
 * @param ranks  base.root_ns must be set
 * @return       TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_ops_graphs(tm_replay_ranks *ranks, tm_error *err) TM_MUST_CHECK;

/**
 * Replaces the times to which slowdowns and shares refer by the times that tm_ops_figures_find
 * computes, for the job and for each rank, stage and step.
 *
 * Collective: over ranks->comm.
 * @param result  result of tm_mpi_whatif
 * @return        TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_ops_figures(const tm_replay_ranks *ranks, tm_replay_result *result,
                             tm_error *err) TM_MUST_CHECK;

#endif
