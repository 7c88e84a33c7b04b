/* Cleans up when a signal, a crash or an MPI failure ends the process, and gives the end a
 * status and, if nothing else reports it, a message. */
#ifndef TMERGE_SIGNALS_H
#define TMERGE_SIGNALS_H

#include <mpi.h>

#include "base/guard.h"

/** Sets up signal handling. Called in main after tm_launch_begin. Closed descriptors 0, 1 and 2
 * are opened such that neither reading nor writing works; otherwise the next file opened would
 * receive the stream's output. Beyond the file size limit (ulimit -f) writes fail instead of
 * ending the process. Children can be waited for, even if the caller ignores SIGCHLD. A crash is
 * reported, with status 5. */
void tm_signals_prepare(void);

/** Registers a file, or a folder that is empty by then, for removal when SIGINT, SIGTERM, SIGHUP or
 * SIGPIPE ends the process. The exit status is then 128 + signal number, as in shells. Signals that
 * the caller ignores (nohup) stay ignored.
 * @param path  copied; not removed if there is no memory for the copy */
void tm_signals_remove(const char *path);

/** Registers temporary files and child processes that the libraries make. */
extern const tm_guard tm_signals_guard;

/** Called from another thread: cleans up and stops the main thread for good. Waits at most two
 * seconds if a system call delays it. */
void tm_signals_halt(void);

/** Installs a handler for failures of MPI on this communicator and those made from it. It
 * reports the failure and ends the run with status 5, because the processes can no longer agree
 * on anything. */
void tm_signals_watch_mpi(MPI_Comm comm);

/** Sleeps for up to 5 s in all processes but the first, so that the first one reports: when it
 * exits with an error, mpirun ends the others. Used if all processes fail in the same way before
 * they can agree through MPI. Under mpirun, a process that continues after the wait is one of few
 * that failed, and should report. */
void tm_signals_let_first_speak(void);

#endif
