/* Finds restarts of the job for ranks whose own recordings do not show all of them. */
#ifndef TMERGE_MPI_ASSIGN_RESTARTS_H
#define TMERGE_MPI_ASSIGN_RESTARTS_H

#include <mpi.h>

#include "tmerge/timeline.h"

/**
 * Assigns recordings to runs of the job. A rank without a recording of some run does not show every
 * restart, so its step numbers are too low. Each recording of such a rank gets the run of the
 * nearest recording in time, among the ranks that recorded every run. Times are compared as the
 * hosts' clocks recorded them. The rank's steps are then numbered as on the ranks that recorded
 * every run. Collective: over comm.
 * @param timelines  [n] timelines of this process
 * @return           TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_restarts(MPI_Comm comm, tm_timeline *timelines, size_t n,
                          tm_error *err) TM_MUST_CHECK;

#endif
