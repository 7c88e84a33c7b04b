/* Cleans up when a signal, a crash or an MPI failure ends the process. Gives the end a status and,
 * if nothing else reports it, a message. */
#ifndef TMERGE_SIGNALS_H
#define TMERGE_SIGNALS_H

#include <mpi.h>

#include "base/guard.h"

/** Sets up signal handling. Called in main after tm_launch_begin. If descriptor 0, 1 or 2 is
 * closed, opens it so that using it fails: otherwise the next file opened would get the stream's
 * output. A write beyond the file size limit (ulimit -f) fails and does not end the process.
 * Children can be waited for, even if the caller ignores SIGCHLD. A crash is reported, with
 * status 5. */
void tm_signals_prepare(void);

/** Registers a file, or a folder that will be empty, for removal when SIGINT, SIGTERM, SIGHUP or
 * SIGPIPE ends the process. The exit status is then 128 + signal number, as in shells. Signals that
 * the caller ignores (nohup) stay ignored.
 * @param path  copied; not removed if there is no memory for the copy */
void tm_signals_remove(const char *path);

/** Registers temporary files and child processes that the libraries make. */
extern const tm_guard tm_signals_guard;

/** For another thread: cleans up and stops the main thread for good. If a system call delays this,
 * waits at most two seconds. */
void tm_signals_halt(void);

/** Makes MPI's failures on this communicator, and on those made from it, end the run with a message
 * and status 5: the processes can no longer agree on anything. */
void tm_signals_watch_mpi(MPI_Comm comm);

/** For failures that all processes have in the same way, before they can agree through MPI. Sleeps
 * up to 5 s in all processes but the first, so that the first one reports the failure; when it
 * exits, mpirun ends the others. If a process still runs after that, only some processes failed,
 * and it should report. */
void tm_signals_let_first_speak(void);

#endif
