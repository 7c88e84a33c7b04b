/* Restarts of the job, which the recordings of a single rank may not show. */
#ifndef TMERGE_MPI_ASSIGN_RESTARTS_H
#define TMERGE_MPI_ASSIGN_RESTARTS_H

#include <mpi.h>

#include "tmerge/timeline.h"

/**
 * Assigns recordings of ranks that lack recordings of some run to their run of the job. Such ranks
 * show no restart in their own numbering. The run is that of the nearest recording, by the hosts'
 * clocks, of a rank that saw every restart. Their steps are then numbered like the others'.
 * Collective: over comm.
 * @param timelines  [n] this process's
 * @return           TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_restarts(MPI_Comm comm, tm_timeline *timelines, size_t n,
                          tm_error *err) TM_MUST_CHECK;

#endif
