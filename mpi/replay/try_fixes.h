/* Finds the most useful fixes. Every process has the whole reduced job, and evaluates a share of
 * the fixes. */
#ifndef TMERGE_MPI_REPLAY_TRY_FIXES_H
#define TMERGE_MPI_REPLAY_TRY_FIXES_H

#include "rank_graphs.h"
#include "replay/whatif/result.h"
#include "replay/whatif/scenario.h"

/**
 * Evaluates fixes of each rank, host and stage, changes of kinds of work and kernels, and the
 * scenario. Makes the plan of fixes.
 *
 * Collective: over the ranks' comm.
 * @param scenario  scenario whose edges are marked, or NULL
 * @param result    path_steps and, on process 0, pieces must contain the requested steps; process 0
 *                  sets the rest
 * @return          TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_whatif(const tm_replay_ranks *ranks, const tm_scenario *scenario,
                        tm_replay_result *result, tm_error *err) TM_MUST_CHECK;

#endif
