/* Finds extra work (replay/job/extras.h) over the whole job. */
#ifndef TMERGE_MPI_REPLAY_EXTRA_NAMES_H
#define TMERGE_MPI_REPLAY_EXTRA_NAMES_H

#include "rank_graphs.h"

/**
 * Finds the names that some ranks of a role ran more often in a step than others.
 *
 * Collective: over comm.
 * @param own     counts of this process's ranks; emptied
 * @param uneven  of uint64_t: keys of these names are added, on every process
 * @return        TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_counts(MPI_Comm comm, tm_counts *own, tm_keys *uneven,
                        tm_error *err) TM_MUST_CHECK;

/**
 * Finds the extra work of ranks: sets their factors and the flags of places, and makes the rows of
 * `extras`.
 *
 * Collective: over the ranks' comm.
 * @param ranks  their places have been compared; facts are set; items and batches must still exist
 * @return       TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_extras(tm_replay_ranks *ranks, tm_error *err) TM_MUST_CHECK;

#endif
