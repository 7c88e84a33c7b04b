/* Applies a user's scenario to the graphs of all ranks. */
#ifndef TMERGE_MPI_REPLAY_SCENARIO_PARTS_H
#define TMERGE_MPI_REPLAY_SCENARIO_PARTS_H

#include "rank_graphs.h"
#include "replay/whatif/scenario.h"

/**
 * Marks the edges that each part of the scenario selects.
 *
 * Collective: over the ranks' comm.
 * @param scenario  the same on every process; the function sets n_ranks
 * @return          TM_OK; TM_ERR_USAGE if a part selects nothing, with a list of the values that
 *                  exist; TM_ERR_FAULT; the same on every process
 */
tm_status tm_mpi_scenario(const tm_replay_ranks *ranks, tm_scenario *scenario,
                          tm_error *err) TM_MUST_CHECK;

#endif
