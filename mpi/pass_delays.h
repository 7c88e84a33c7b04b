/* Delay propagation over all processes: passes the cost of a late rank back to the operations that
 * made the rank late. */
#ifndef TMERGE_MPI_PASS_DELAYS_H
#define TMERGE_MPI_PASS_DELAYS_H

#include <mpi.h>

#include "timeline/collectives.h"

/** Maximum number of rounds in which cost is passed back. The cost that is still in transit after
 * the last round stays at the operations that it has reached. It is small, because only a small
 * part of the cost is passed on in each round. */
enum { TM_DELAY_ROUNDS = 64 };

/**
 * Fills costs and members of the matched operations. The owner of an operation is the process that
 * matched it. The holder of a rank is the process that has the rank's timeline. In each round, the
 * owner of an operation sends the operation's cost to the holder of the rank that was late. The
 * holder sends the cost on to the owners of the operations in which that rank had to wait before.
 * All amounts are whole nanoseconds, and an amount is split in the same way on any process. So the
 * result does not depend on the number of processes. Collective: over comm.
 * @param timelines    [n] timelines of this process, ascending in rank
 * @param collectives  matched operations whose records have their origins
 * @return             TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_delay(MPI_Comm comm, const tm_timeline *timelines, size_t n,
                       tm_collectives *collectives, tm_error *err) TM_MUST_CHECK;

#endif
