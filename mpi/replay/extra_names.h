/* Finds extra work (replay/job/extras.h) over the whole job. */
#ifndef TMERGE_MPI_REPLAY_EXTRA_NAMES_H
#define TMERGE_MPI_REPLAY_EXTRA_NAMES_H

#include "rank_graphs.h"

/**
 * Finds the names of kernels and calls that some rank of a role ran more often in a step than other
 * ranks of the role.
 *
 * Collective: over comm.
 * @param own     counts of this process's ranks; empty after the call
 * @param uneven  keys (uint64_t) to which the keys of these names are added, on every process
 * @return        TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_counts(MPI_Comm comm, tm_counts *own, tm_keys *uneven,
                        tm_error *err) TM_MUST_CHECK;

/**
 * Finds the extra work of ranks. Sets the factors of ranks and the flags of places, and adds the
 * rows of ranks->extras.
 *
 * Collective: over the ranks' comm.
 * @param ranks  ranks whose places were compared and whose facts are set; their items and batches
 *               must still exist
 * @return       TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_extras(tm_replay_ranks *ranks, tm_error *err) TM_MUST_CHECK;

#endif
