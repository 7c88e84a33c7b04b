/* Collects the own work of all ranks. */
#ifndef TMERGE_MPI_REPLAY_WORKS_H
#define TMERGE_MPI_REPLAY_WORKS_H

#include "rank_graphs.h"
#include "replay/job/works.h"

/**
 * Sums the own work of each rank, and sends it to process 0.
 *
 * Collective: over the ranks' comm.
 * @param ranks  whose places have been compared; items or batches must not have been freed yet
 * @param out    empty before the call. Afterwards `ranks` is filled on process 0, and `rows` on
 *               all; both stay empty if ranks cannot be compared
 * @return       TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_works(const tm_replay_ranks *ranks, tm_works *out, tm_error *err) TM_MUST_CHECK;

#endif
