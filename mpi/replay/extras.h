/* What ranks run that their peers do not, over the job. */
#ifndef TMERGE_MPI_REPLAY_EXTRAS_H
#define TMERGE_MPI_REPLAY_EXTRAS_H

#include "ranks.h"

/**
 * Brings together which names ranks do not run equally often.
 *
 * Collective: over comm.
 * @param own     what this process's ranks run; emptied
 * @param uneven  of uint64_t: their keys, added to on every process
 * @return        TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_counts(MPI_Comm comm, tm_counts *own, tm_keys *uneven,
                        tm_error *err) TM_MUST_CHECK;

/**
 * Finds the extras of the ranks' places, and their rows.
 *
 * Collective: over the ranks' comm.
 * @param ranks  whose places have been compared, with facts; with items or crews still
 * @return       TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_extras(tm_replay_ranks *ranks, tm_error *err) TM_MUST_CHECK;

#endif
