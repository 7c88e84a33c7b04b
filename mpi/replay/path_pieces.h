/* Finds the critical path of a job whose ranks are distributed over processes. */
#ifndef TMERGE_MPI_REPLAY_PATH_PIECES_H
#define TMERGE_MPI_REPLAY_PATH_PIECES_H

#include "rank_graphs.h"
#include "replay/job/path.h"

/**
 * Finds the path to the end of each step, and the whole path.
 *
 * Collective: over the ranks' comm.
 * @param steps   of tm_path_step, the same on every process
 * @param pieces  of tm_path_piece, only on process 0: sorted by step, then by time
 * @param whole   of tm_path_piece, only on process 0: the path from the root to the last end
 * @return        TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_replay_path(const tm_replay_ranks *ranks, tm_vec *steps, tm_vec *pieces,
                             tm_vec *whole, tm_error *err) TM_MUST_CHECK;

#endif
