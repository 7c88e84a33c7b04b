/* One status for all processes, before the next collective call. */
#ifndef TMERGE_MPI_AGREE_H
#define TMERGE_MPI_AGREE_H

#include <mpi.h>
#include <stdbool.h>

#include "tmerge/status.h"

/**
 * Makes the failure of one process the failure of all: the status and the error record of the
 * lowest failing process reach every one. Costs one reduction where all is well.
 *
 * Collective: over comm.
 * @param status  of this process; where it is not TM_OK, @p err (if not NULL) tells why
 * @param err     on a failure filled on every process, otherwise untouched; may be NULL
 * @return        the same on every process
 */
tm_status tm_mpi_agree(MPI_Comm comm, tm_status status, tm_error *err) TM_MUST_CHECK;

/**
 * Whether all processes that count have the same value; true where fewer than two count.
 *
 * Collective: over comm.
 */
bool tm_mpi_is_one(MPI_Comm comm, uint64_t value, bool counts);

#endif
