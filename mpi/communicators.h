/* The ranks of communicators, over all processes. */
#ifndef TMERGE_MPI_COMMUNICATORS_H
#define TMERGE_MPI_COMMUNICATORS_H

#include <mpi.h>

#include "mpi/load/load.h"

/**
 * Finds the ranks of the communicators that the loaded timelines tell by a hash, and gives them to
 * their kernels (match/communicators.h).
 *
 * Collective: over comm.
 * @return  TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_find_communicators(MPI_Comm comm, tm_loaded *loaded, tm_error *err) TM_MUST_CHECK;

#endif
