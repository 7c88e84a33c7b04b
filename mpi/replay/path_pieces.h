/* Finds the critical path of a job whose ranks are distributed over processes. */
#ifndef TMERGE_MPI_REPLAY_PATH_PIECES_H
#define TMERGE_MPI_REPLAY_PATH_PIECES_H

#include "rank_graphs.h"

/**
 * Finds the critical path to the end of each step, and the critical path of the whole job.
 *
 * Collective: over the ranks' comm.
 * @param steps   vector of tm_path_step, the same on every process
 * @param pieces  vector of tm_path_piece: the pieces of the steps' paths, sorted by step, then by
 *                time; only on process 0
 * @param whole   vector of tm_path_piece: the path from the root to the end of the last step; only
 *                on process 0
 * @return        TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_replay_path(const tm_replay_ranks *ranks, tm_vec *steps, tm_vec *pieces,
                             tm_vec *whole, tm_error *err) TM_MUST_CHECK;

#endif
