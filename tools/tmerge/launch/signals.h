/* Cleans up when a signal, a crash or an MPI failure ends the process. Sets the exit status and, if
 * nothing else reports the end, prints a message. */
#ifndef TMERGE_SIGNALS_H
#define TMERGE_SIGNALS_H

#include <mpi.h>

#include "base/guard.h"

/** Sets up signal handling. main calls it after tm_launch_begin. If descriptor 0, 1 or 2 is closed,
 * opens it such that each use of it fails. Otherwise, the next file that is opened would get the
 * descriptor, and with it the stream's output. After this call, a write beyond the file size limit
 * (ulimit -f) fails, but does not end the process. Children can be waited for, even if the caller
 * ignores SIGCHLD. A crash is reported, and the exit status is 5. */
void tm_signals_prepare(void);

/** Registers a file or folder, which is removed when SIGINT, SIGTERM, SIGHUP or SIGPIPE ends the
 * process. A folder must be empty then. The exit status is then 128 + signal number, as in shells.
 * Signals that the caller ignores (nohup) stay ignored.
 * @param path  copied; not removed if there is no memory for the copy */
void tm_signals_remove(const char *path);

/** Functions by which libraries register their temporary files and child processes. */
extern const tm_guard tm_signals_guard;

/** Cleans up, and stops the main thread for good. Another thread calls this. If a system call
 * delays the main thread, waits for it at most two seconds. */
void tm_signals_halt(void);

/** Ends the run with a message and status 5 if MPI fails on this communicator, or on one made from
 * it. After such a failure, the processes can no longer agree on an error. */
void tm_signals_watch_mpi(MPI_Comm comm);

/** Call this before reporting a failure that all processes have in the same way, when they cannot
 * agree through MPI. The first process returns at once and reports. The other processes sleep for
 * up to 5 s; in this time, mpirun usually ends them, because the first process has exited. A
 * process that still runs after the sleep should report, because the failure was not common to all
 * processes. */
void tm_signals_let_first_speak(void);

#endif
