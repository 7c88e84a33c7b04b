/* Finds work that ranks run and their peers do not, over the whole job. */
#ifndef TMERGE_MPI_REPLAY_EXTRA_NAMES_H
#define TMERGE_MPI_REPLAY_EXTRA_NAMES_H

#include "rank_graphs.h"

/**
 * Finds the names that ranks do not run equally often.
 *
 * Collective: over comm.
 * @param own     counts of this process's ranks; emptied
 * @param uneven  of uint64_t: their keys, added to on every process
 * @return        TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_counts(MPI_Comm comm, tm_counts *own, tm_keys *uneven,
                        tm_error *err) TM_MUST_CHECK;

/**
 * Finds the extra work at the ranks' places, and its rows.
 *
 * Collective: over the ranks' comm.
 * @param ranks  with compared places and facts; must still have items or batches
 * @return       TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_extras(tm_replay_ranks *ranks, tm_error *err) TM_MUST_CHECK;

#endif
