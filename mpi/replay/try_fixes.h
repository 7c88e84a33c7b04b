/* Finds the most useful fixes. Every process has the whole reduced job; the fixes are distributed
 * over the processes. */
#ifndef TMERGE_MPI_REPLAY_TRY_FIXES_H
#define TMERGE_MPI_REPLAY_TRY_FIXES_H

#include "rank_graphs.h"
#include "replay/whatif/result.h"
#include "replay/whatif/scenario.h"

/**
 * Evaluates the fix of each rank, host, stage, kind of work and kernel, and makes the plan.
 *
 * Collective: over the ranks' comm.
 * @param scenario  whose edges are marked, or NULL
 * @param result    has path_steps, and on process 0 pieces, of the requested steps; process 0 fills
 *                  the rest
 * @return          TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_whatif(const tm_replay_ranks *ranks, const tm_scenario *scenario,
                        tm_replay_result *result, tm_error *err) TM_MUST_CHECK;

#endif
