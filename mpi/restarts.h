/* Restarts of the job, which the recordings of a single rank may not show. */
#ifndef TMERGE_MPI_RESTARTS_H
#define TMERGE_MPI_RESTARTS_H

#include <mpi.h>

#include "tmerge/timeline.h"

/**
 * Gives ranks that lack recordings of some run, so that nothing of theirs is numbered again, the
 * run of the job in which they recorded: that of the nearest recording, by the hosts' clocks, of a
 * rank that saw every restart. Their steps are numbered as the others'.
 *
 * Collective: over comm.
 * @param timelines  [n] this process's
 * @return           TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_restarts(MPI_Comm comm, tm_timeline *timelines, size_t n,
                          tm_error *err) TM_MUST_CHECK;

#endif
