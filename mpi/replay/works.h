/* Collects the own work of all ranks (replay/job/works.h). */
#ifndef TMERGE_MPI_REPLAY_WORKS_H
#define TMERGE_MPI_REPLAY_WORKS_H

#include "rank_graphs.h"
#include "replay/job/works.h"

/**
 * Sums the own work of each rank, and sends it to process 0.
 *
 * Collective: over the ranks' comm.
 * @param ranks  ranks whose places were compared; their items and batches must still exist
 * @param out    empty before the call. The function sets `ranks` on process 0, and `steps` on all
 *               processes. If the ranks cannot be compared, n_rows is 0 and `ranks` is empty.
 * @return       TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_works(const tm_replay_ranks *ranks, tm_works *out, tm_error *err) TM_MUST_CHECK;

#endif
