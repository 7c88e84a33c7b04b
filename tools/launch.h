/* How this process was started, and how MPI is. */
#ifndef TMERGE_LAUNCH_H
#define TMERGE_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/place.h"
#include "tmerge/status.h"

/* In the environment of processes that tmerge has mpirun start: when it began itself. */
#define TM_LAUNCH_STARTED "TMERGE_STARTED_NS"

/** Reads the environment. Called first in main. */
void tm_launch_begin(void);

/** Which process of how many this is: as the launcher says, once MPI has started as that says. */
const tm_place *tm_launch_place(void);

/** When the program began, by CLOCK_MONOTONIC: of processes that it started itself, when it did. */
int64_t tm_launch_began_ns(void);

/** Whether tmerge has had this process started itself. */
bool tm_launch_is_started(void);

/** Takes what launchers and batch systems tell out of the environment. */
void tm_launch_forget(void);

/** Where all processes are on this host, Open MPI has to know its cores only. Looking for devices
 * as well takes each process 20 ms: on the PCI bus, through the libraries of GPUs, and for X
 * servers, by TCP too. */
void tm_launch_look_at_cores(void);

/** Whether processes of this run are on other hosts, or may be. */
bool tm_launch_has_hosts(void);

/**
 * Starts MPI where it has not been. A process without others asks neither the network nor any
 * folder for it.
 *
 * Collective: over all processes.
 * @return  TM_OK; TM_ERR_USAGE, TM_ERR_FAULT: a launcher that is not of this MPI, where each
 *          process fails alike
 */
tm_status tm_launch_mpi(tm_error *err) TM_MUST_CHECK;

#endif
