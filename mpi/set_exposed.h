/* Exposed time of every communication kernel, and the operations with the most exposed time. */
#ifndef TMERGE_MPI_SET_EXPOSED_H
#define TMERGE_MPI_SET_EXPOSED_H

#include <mpi.h>

#include "timeline/collectives.h"

/**
 * Sets exposed_ns in the kernels of timelines and the records of collectives, and finds the most
 * exposed operations. Call it after tm_mpi_opening. Collective: over comm.
 * @param timelines    [n] timelines of this process
 * @param collectives  operations matched by this process; the call sets `exposed`
 * @return             TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_exposed(MPI_Comm comm, tm_timeline *timelines, size_t n,
                         tm_collectives *collectives, tm_error *err) TM_MUST_CHECK;

#endif
