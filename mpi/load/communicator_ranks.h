/* Finds the ranks of communicators over all processes. */
#ifndef TMERGE_MPI_COMMUNICATOR_RANKS_H
#define TMERGE_MPI_COMMUNICATOR_RANKS_H

#include <mpi.h>

#include "mpi/load/load.h"

/**
 * Finds the ranks of the communicators that the loaded timelines identify by a hash, and sets the
 * ranks in the communicators' kernels (match/communicators.h). Also finds the peers of transfers
 * (match/transfer_peers.h). Collective: over comm.
 * @return  TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_find_communicators(MPI_Comm comm, tm_loaded *loaded, tm_error *err) TM_MUST_CHECK;

/**
 * Returns whether the ranks' traces have different formats. Each format has its own names for
 * groups. So the group of a kernel does not show which ranks with traces in other formats belong to
 * the group.
 * Collective: over comm.
 * @param timelines  [n]
 * @param names      has the names of the formats of the timelines
 */
bool tm_mpi_formats_differ(MPI_Comm comm, const tm_timeline *timelines, size_t n,
                           const tm_names *names);

#endif
