/* Finds restarts of the job for ranks whose own recordings do not show all of them. */
#ifndef TMERGE_MPI_ASSIGN_RESTARTS_H
#define TMERGE_MPI_ASSIGN_RESTARTS_H

#include <mpi.h>

#include "tmerge/timeline.h"

/**
 * Assigns recordings to runs of the job. If a rank lacks recordings of a run, its step numbers do
 * not show every restart. Each of its recordings is then compared with the recordings of
 * ranks that recorded every run: the nearest in time, by the hosts' clocks, is of the same run. The
 * rank's steps are numbered as on these ranks. Collective: over comm.
 * @param timelines  [n] this process's
 * @return           TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_restarts(MPI_Comm comm, tm_timeline *timelines, size_t n,
                          tm_error *err) TM_MUST_CHECK;

#endif
