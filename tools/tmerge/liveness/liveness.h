/* Liveness monitor: detects lost processes and hosts of a run. MPI waits for lost processes for
 * ever. mpirun detects a process that ended, but a silent host only after minutes. srun ends the
 * other processes only if it is configured to.
 *
 * Each process keeps a connection to the first process of its host, and the first process of each
 * host keeps one to process 0. A host that is silent for 20 s (TM_SILENCE_VARIABLE sets another
 * time) ends the run with one message. After the loss of a process, the launcher has 3 s to end the
 * run; then the monitor does. A process that is blocked, for example by its disk, counts as alive.
 */
#ifndef TMERGE_LIVENESS_H
#define TMERGE_LIVENESS_H

#include <mpi.h>
#include <stdbool.h>

/** Starts to monitor, in a thread that does not use MPI. If a connection cannot be made, because of
 * the network or of memory, leaves it out without a message.
 *
 * Collective: over all processes.
 * @param node    the processes of this host
 * @param aborts call MPI_Abort if a host is silent, because the launcher would wait for that host
 * @param halt    cleans up and halts the main thread */
void tm_liveness_start(MPI_Comm node, bool aborts, void (*halt)(void));

/** Informs the other processes that this one leaves after a failure that is reported. Signal
 * handlers call this, too. */
void tm_liveness_leave(void);

/** Informs the other processes that this one ends normally, and stops the monitor. Collective: no.
 */
void tm_liveness_end(void);

#endif
