/* Builds the graphs of a job whose traces hold operations of the training loop instead of kernels,
 * and computes the published figures of such a job. */
#ifndef TMERGE_MPI_REPLAY_REPLAY_OPS_H
#define TMERGE_MPI_REPLAY_REPLAY_OPS_H

#include "rank_graphs.h"
#include "replay/job/ops_figures.h"
#include "replay/whatif/result.h"

/** Whether the traces of all ranks hold operations and the ranks' places in the parallelism.
 * Collective: over ranks->comm. */
bool tm_mpi_ops_is(const tm_replay_ranks *ranks);

/**
 * Builds the graphs from operations instead of kernels.
 *
 * Collective: over ranks->comm.
 * @param ranks  its root_ns is set
 * @return       TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_ops_graphs(tm_replay_ranks *ranks, tm_error *err) TM_MUST_CHECK;

/**
 * Replaces results of tm_mpi_whatif by those of tm_ops_figures_find: the time that slowdown and
 * shares refer to, and the slowdowns of ranks and stages.
 *
 * Collective: over ranks->comm.
 * @param result  of tm_mpi_whatif
 * @return        TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_ops_figures(const tm_replay_ranks *ranks, tm_replay_result *result,
                             tm_error *err) TM_MUST_CHECK;

#endif
