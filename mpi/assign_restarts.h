/* Finds restarts of the job for ranks whose own recordings do not show all of them. */
#ifndef TMERGE_MPI_ASSIGN_RESTARTS_H
#define TMERGE_MPI_ASSIGN_RESTARTS_H

#include <mpi.h>

#include "tmerge/timeline.h"

/**
 * Assigns recordings to runs of the job. Needed for a rank without recordings of some run, because
 * the rank's own step numbers then do not show every restart. Its recording belongs to the same run
 * as the recording nearest in time, by the hosts' clocks, of a rank that has recordings of every
 * run. Steps are then numbered as on the other ranks. Collective: over comm.
 * @param timelines  [n] this process's
 * @return           TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_restarts(MPI_Comm comm, tm_timeline *timelines, size_t n,
                          tm_error *err) TM_MUST_CHECK;

#endif
