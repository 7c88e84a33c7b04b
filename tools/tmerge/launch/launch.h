/* How this process and MPI are started. */
#ifndef TMERGE_LAUNCH_H
#define TMERGE_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/launcher_env.h"
#include "tmerge/status.h"

/* Environment variable of processes that tmerge starts with mpirun: the time at which the first
 * tmerge started. */
#define TM_LAUNCH_STARTED "TMERGE_STARTED_NS"

/** Reads the environment. main calls it first. */
void tm_launch_begin(void);

/** Returns this process's number and the number of processes. They are from MPI if it has started,
 * otherwise from the launcher. */
const tm_launcher_env *tm_launch_place(void);

/** Returns when the program started, by CLOCK_MONOTONIC. For a process that tmerge launched,
 * returns when the launching tmerge started. */
int64_t tm_launch_began_ns(void);

/** Returns whether tmerge itself launched this process. */
bool tm_launch_is_started(void);

/** Removes the variables of launchers and batch systems from the environment. */
void tm_launch_forget(void);

/** Limits Open MPI's hardware detection to cores. This suffices if all processes are on this host.
 * Detecting devices (on the PCI bus, through GPU libraries and X servers) would take 20 ms in each
 * process. */
void tm_launch_look_at_cores(void);

/** Returns whether processes of this run are on other hosts, or may be. */
bool tm_launch_has_hosts(void);

/** Starts MPI; call it once. A single process starts MPI without network and folders.
 *
 * Collective: over all processes.
 * @return  TM_OK; TM_ERR_USAGE, TM_ERR_FAULT: the launcher belongs to another MPI; all processes
 * then fail in the same way */
tm_status tm_launch_mpi(tm_error *err) TM_MUST_CHECK;

#endif
