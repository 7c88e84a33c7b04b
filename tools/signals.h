/* What ends a process from outside, or from inside at the wrong place: nothing is left behind, and
 * the end has a status and, where nobody else can tell it, a message. */
#ifndef TMERGE_SIGNALS_H
#define TMERGE_SIGNALS_H

#include <mpi.h>

#include "base/guard.h"

/**
 * Called in main behind tm_launch_begin. A file of descriptor 0, 1 or 2 that is closed would take
 * what is written to the stream, so these are opened: to nothing that could be read or written.
 * Over the file size limit (ulimit -f) a write fails, instead of ending the process. Children can
 * be waited for, whatever the caller ignores. Should a library or we crash, that is told, and the
 * status is 5.
 */
void tm_signals_prepare(void);

/**
 * From now on a signal that asks for the end (SIGINT, SIGTERM, SIGHUP, SIGPIPE) removes this file,
 * or folder that is empty by then, besides those named before, before it ends the process with
 * 128 + its number, as shells count. Signals that the caller ignores (nohup) stay ignored.
 * @param path  copied; without memory for that it is not removed
 */
void tm_signals_remove(const char *path);

/** The same for what the libraries make, and for their children. */
extern const tm_guard tm_signals_guard;

/** Called from another thread: what was named is removed, and the main thread stands still for
 * good, unless a system call keeps it for two seconds more. */
void tm_signals_halt(void);

/**
 * A failure in MPI itself on this communicator, or on one that is made from it, is told and ends
 * the run with status 5: processes that no longer reach one another cannot agree on anything.
 */
void tm_signals_watch_mpi(MPI_Comm comm);

/**
 * Waits, in all processes but the first, for what the first has to say: when it leaves with an
 * error mpirun ends the others. For processes that fail alike and have no MPI to agree by; whoever
 * is still there behind this under mpirun is the only one that failed, or nearly so, and may speak.
 */
void tm_signals_let_first_speak(void);

#endif
