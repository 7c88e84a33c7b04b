/* Whether a rank's steps are steps of the job. */
#ifndef TMERGE_MPI_JOB_STEPS_H
#define TMERGE_MPI_JOB_STEPS_H

#include <mpi.h>

#include "tmerge/timeline.h"

/**
 * Removes the step of each rank that marks none, i.e. its whole trace, if other ranks mark steps:
 * the whole trace is no step of the job. The rank then counts in no figure by step. Collective:
 * over comm.
 * @param timelines  [n] timelines of this process
 */
void tm_mpi_job_steps(MPI_Comm comm, tm_timeline *timelines, size_t n);

#endif
