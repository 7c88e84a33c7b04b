/* Records of equal size to the processes that own them: the one exchange behind matching. */
#ifndef TMERGE_MPI_SHUFFLE_H
#define TMERGE_MPI_SHUFFLE_H

#include <mpi.h>

#include "base/vec.h"
#include "tmerge/status.h"

/**
 * Sends every record to a process and receives what the others send here.
 *
 * Collective: over comm.
 * @param records  what this process has; emptied
 * @param owner    gives the process, in [0, n_processes), that a record goes to
 * @param out      filled with the records received, in the order of the senders and, for each, of
 *                 its records; of the same element size
 * @return         TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_shuffle(MPI_Comm comm, tm_vec *records,
                         int (*owner)(const void *record, int n_processes), tm_vec *out,
                         tm_error *err) TM_MUST_CHECK;

/** An owner for tm_mpi_shuffle: process 0 gets all. Collective: no. */
int tm_mpi_first_process(const void *record, int n_processes);

/**
 * Gives every process the elements of all, in the order of the processes: for what is small for a
 * rank.
 *
 * Collective: over comm.
 * @param out  appended to; of the same element size
 * @return     TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_everywhere(MPI_Comm comm, const tm_vec *own, tm_vec *out,
                            tm_error *err) TM_MUST_CHECK;

#endif
