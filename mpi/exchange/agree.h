/* Agreement of all processes on one status before the next collective call. */
#ifndef TMERGE_MPI_AGREE_H
#define TMERGE_MPI_AGREE_H

#include <mpi.h>
#include <stdbool.h>

#include "tmerge/status.h"

/**
 * Makes the failure of one process a failure of all: every process gets the status and error record
 * of the lowest failing process. Costs one reduction if there is no failure.
 * Collective: over comm.
 * @param status  status of this process; if it is not TM_OK, @p err contains the error unless @p
 *                err is NULL
 * @param err     may be NULL. Set on every process if one of them failed, otherwise unchanged.
 * @return        the same on every process
 */
tm_status tm_mpi_agree(MPI_Comm comm, tm_status status, tm_error *err) TM_MUST_CHECK;

/** Returns whether @p value is the same on all processes on which @p counts is true; true if there
 * are fewer than two. Collective: over comm. */
bool tm_mpi_is_one(MPI_Comm comm, uint64_t value, bool counts);

#endif
