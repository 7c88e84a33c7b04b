/* Whether the other processes of a run, and their hosts, are still there. MPI waits for ever for
 * one that is not; mpirun notices a process that ended, and a host that does not answer only after
 * minutes; srun ends the others only where it was told to.
 *
 * The processes of a host hold a line to its first one, those to process 0. A host that does not
 * answer for 20 s (TM_SILENCE_VARIABLE sets another time) ends the run with one message; a process
 * that is gone does where the launcher has not ended the run within 3 s. A process that stands
 * still, for its disk does, is there. */
#ifndef TMERGE_LIFELINE_H
#define TMERGE_LIFELINE_H

#include <mpi.h>
#include <stdbool.h>

/**
 * Begins to watch, in a thread of its own that uses no MPI. Where there can be no line, for want of
 * a network or of memory, nobody is watched over it, and nothing said.
 *
 * Collective: over all processes.
 * @param node    the processes of this host
 * @param aborts  the launcher waits for a host that does not answer unless it is told to end
 * @param halt    brings the main thread to a halt, with nothing left behind
 */
void tm_lifeline_start(MPI_Comm node, bool aborts, void (*halt)(void));

/** This process leaves, and whatever has to be said is said. Also called by handlers of signals. */
void tm_lifeline_leave(void);

/** The run is over, and whoever ends now does so in order. Collective: no. */
void tm_lifeline_end(void);

#endif
