/* Delay propagation over all processes: passes the cost of a late rank back to the operations that
 * made the rank late. */
#ifndef TMERGE_MPI_PASS_DELAYS_H
#define TMERGE_MPI_PASS_DELAYS_H

#include <mpi.h>

#include "timeline/collectives.h"

/** Maximum number of rounds in which cost is passed back. Cost left after the last round stays
 * where it is. Little is left, because most of the cost stays where it arrives in each round. */
enum { TM_DELAY_ROUNDS = 64 };

/**
 * Fills costs and members of the matched operations. The owner of an operation is the process that
 * matched it; the holder of a rank is the process with its timeline. In each round, owners send
 * cost to the holders of the late ranks, which send it on to the owners of the operations that kept
 * these ranks waiting. All amounts are whole nanoseconds, and how an amount is split does not
 * depend on other processes, so the result is the same for any number of processes. Collective:
 * over comm.
 * @param timelines    [n] this process's, ascending in rank
 * @param collectives  matched, with the records' origins
 * @return             TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_delay(MPI_Comm comm, const tm_timeline *timelines, size_t n,
                       tm_collectives *collectives, tm_error *err) TM_MUST_CHECK;

#endif
