/* Finds work that some ranks do and their peers do not, over the whole job. */
#ifndef TMERGE_MPI_REPLAY_EXTRA_NAMES_H
#define TMERGE_MPI_REPLAY_EXTRA_NAMES_H

#include "rank_graphs.h"

/**
 * Finds the names of kernels that some ranks ran more often than others.
 *
 * Collective: over comm.
 * @param own     counts of this process's ranks; emptied
 * @param uneven  of uint64_t: keys of these names, added to on every process
 * @return        TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_counts(MPI_Comm comm, tm_counts *own, tm_keys *uneven,
                        tm_error *err) TM_MUST_CHECK;

/**
 * Finds the work that ranks do and their peers do not: sets the factors of their places, and makes
 * the rows of extras.
 *
 * Collective: over the ranks' comm.
 * @param ranks  whose places have been compared, with facts; items or batches must not have been
 *               freed yet
 * @return       TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_extras(tm_replay_ranks *ranks, tm_error *err) TM_MUST_CHECK;

#endif
