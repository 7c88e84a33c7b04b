/* Restarts of the job, which the recordings of a single rank may not show. */
#ifndef TMERGE_MPI_ASSIGN_RESTARTS_H
#define TMERGE_MPI_ASSIGN_RESTARTS_H

#include <mpi.h>

#include "tmerge/timeline.h"

/**
 * Assigns the recordings of a rank to their runs of the job if the rank lacks recordings of some
 * run, because its own numbering then shows no restart. The run is that of the nearest recording,
 * by the hosts' clocks, of a rank that has recordings of every run. Steps are then numbered as on
 * the other ranks. Collective: over comm.
 * @param timelines  [n] this process's
 * @return           TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_restarts(MPI_Comm comm, tm_timeline *timelines, size_t n,
                          tm_error *err) TM_MUST_CHECK;

#endif
