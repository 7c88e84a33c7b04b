/* Hosts of tmerge's processes. A file on the local disk of one host may not exist on another. */
#ifndef TMERGE_MPI_PROCESS_HOSTS_H
#define TMERGE_MPI_PROCESS_HOSTS_H

#include <mpi.h>
#include <stdbool.h>

#include "tmerge/status.h"

/** The hosts on which the processes run, numbered in the order of their first processes. The same
 * on every process, except self and node. */
typedef struct tm_hosts {
    int n;
    int *of;                    /* owned; [processes] host of each process */
    char (*names)[TM_HOST_MAX]; /* owned; [n] host names as the hosts report them */
    int self;                   /* host of this process */
    bool leads;                 /* this process is the first of its host */
    MPI_Comm node;              /* the processes of this process's host */
} tm_hosts;

/**
 * Finds the hosts. Collective: over comm.
 * @param out  all 0 before the call. All processes must free it together, even if the call failed
 * @return     TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_hosts_find(MPI_Comm comm, tm_hosts *out, tm_error *err) TM_MUST_CHECK;

/**
 * Checks that a path is the same file for all processes. Collective: over comm.
 * @return  TM_OK; TM_ERR_INPUT, also if a process cannot read the file; TM_ERR_FAULT; the same on
 *          every process
 */
tm_status tm_mpi_same_file(MPI_Comm comm, const char *path, tm_error *err) TM_MUST_CHECK;

/** Frees the hosts. Collective: over the processes of each host. */
void tm_mpi_hosts_free(tm_hosts *hosts);

#endif
