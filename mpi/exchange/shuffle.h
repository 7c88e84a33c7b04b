/* Sends records of equal size to the processes that own them. All matching uses this exchange. */
#ifndef TMERGE_MPI_SHUFFLE_H
#define TMERGE_MPI_SHUFFLE_H

#include <mpi.h>

#include "base/vec.h"
#include "tmerge/status.h"

/**
 * Sends every record to its owner and receives the records that this process owns. Collective: over
 * comm.
 * @param records  records of this process; empty after the call
 * @param owner    returns the process, in [0, n_processes), that a record goes to
 * @param out      gets the received records in the order of the sending processes; records of one
 *                 process keep their order. Its elements have the same size as those of @p records.
 * @return         TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_shuffle(MPI_Comm comm, tm_vec *records,
                         int (*owner)(const void *record, int n_processes), tm_vec *out,
                         tm_error *err) TM_MUST_CHECK;

/** Owner function for tm_mpi_shuffle: process 0 owns everything. Collective: no. */
int tm_mpi_first_process(const void *record, int n_processes);

/**
 * Appends the elements that each process has in @p own to @p out on every process, in the order of
 * the processes. Use it only if each rank has little data. Collective: over comm.
 * @param out  vector with elements of the same size as @p own
 * @return     TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_everywhere(MPI_Comm comm, const tm_vec *own, tm_vec *out,
                            tm_error *err) TM_MUST_CHECK;

#endif
