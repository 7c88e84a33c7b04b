/* Finds who waited for whom, over all processes. The input is the matched operations; the result is
 * an answer for each kernel. */
#ifndef TMERGE_MPI_WAIT_H
#define TMERGE_MPI_WAIT_H

#include <mpi.h>

#include "timeline/collectives.h"

/** Maximum number of ranks of a job for which waits of pairs of ranks are kept. */
enum { TM_PAIR_RANKS_MAX = 512 };

/**
 * Splits the waits of all operations by cause, passes their cost back to the causes of lateness,
 * and sends the results to the processes that hold the ranks. Finds the exposed part of all
 * operations. The records must be on the job's clock. Collective: over comm.
 * @param n_ranks      number of ranks that all processes together have read
 * @param timelines    [n] timelines of this process; the call sets their answers
 * @param collectives  operations matched by this process; the call sets values, worst, exposed,
 *                     pairs, costs and members
 * @return             TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_wait(MPI_Comm comm, int64_t n_ranks, tm_timeline *timelines, size_t n,
                      tm_collectives *collectives, tm_error *err) TM_MUST_CHECK;

#endif
