/* The exposed time of every communication kernel, and of the operations that have most of it. */
#ifndef TMERGE_MPI_EXPOSED_H
#define TMERGE_MPI_EXPOSED_H

#include <mpi.h>

#include "timeline/collectives.h"

/**
 * Sets exposed_ns of the kernels of timelines and of the records of collectives, and finds the
 * operations that were exposed most. What profilers' opening sets apart must be known.
 *
 * Collective: over comm.
 * @param timelines    [n] this process's
 * @param collectives  what this process matched; `exposed` is added
 * @return             TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_exposed(MPI_Comm comm, tm_timeline *timelines, size_t n,
                         tm_collectives *collectives, tm_error *err) TM_MUST_CHECK;

#endif
