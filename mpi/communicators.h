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

/**
 * Whether the ranks' traces are of several formats: each names groups in its own way, and what one
 * tells of them, or of who uses them, says nothing of the others' ranks.
 *
 * Collective: over comm.
 * @param timelines  [n]
 * @param names      of their formats
 */
bool tm_mpi_formats_differ(MPI_Comm comm, const tm_timeline *timelines, size_t n,
                           const tm_names *names);

#endif
