/* Delay propagation over all processes: what a late rank cost goes back to what made it late. */
#ifndef TMERGE_MPI_DELAY_H
#define TMERGE_MPI_DELAY_H

#include <mpi.h>

#include "timeline/collectives.h"

/** How often cost is passed back at most; what is left then stays where it is. Each time goes back
 * in time, and most of the cost stays on the way. */
enum { TM_DELAY_ROUNDS = 64 };

/**
 * Fills costs and members of the matched operations. Operations stay with their owners and ranks
 * with their holders: in each round owners send cost to the holders of the late ranks, and those
 * send it on to the owners of the operations that had kept them waiting. All amounts are whole
 * nanoseconds, and what one process splits depends on no other: the result is the same for any
 * number of processes.
 *
 * Collective: over comm.
 * @param timelines    [n] this process's, ascending in rank
 * @param collectives  matched, with the records' origins
 * @return             TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_delay(MPI_Comm comm, const tm_timeline *timelines, size_t n,
                       tm_collectives *collectives, tm_error *err) TM_MUST_CHECK;

#endif
