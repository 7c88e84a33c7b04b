/* The hosts that a job of processes runs on: what lies on the disk of one may be on no other. */
#ifndef TMERGE_MPI_HOSTS_H
#define TMERGE_MPI_HOSTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "tmerge/status.h"

/** Hosts are numbered by their first process. The same on every process, but for self and node. */
typedef struct tm_hosts {
    int n;
    int *of;                    /* owned; [processes] each one's host */
    char (*names)[TM_HOST_MAX]; /* owned; [n] as the hosts call themselves */
    int self;                   /* this process's host */
    bool leads;                 /* it is the first of its host */
    MPI_Comm node;              /* the processes of this host */
} tm_hosts;

/**
 * Finds them.
 *
 * Collective: over comm.
 * @param out  all 0; to be freed on every process together, whatever comes of it
 * @return     TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_hosts_find(MPI_Comm comm, tm_hosts *out, tm_error *err) TM_MUST_CHECK;

/**
 * Refuses a file that is not the same to all processes.
 *
 * Collective: over comm.
 * @return  TM_OK; TM_ERR_INPUT, also where a process cannot read it; TM_ERR_FAULT; the same on
 * every process
 */
tm_status tm_mpi_same_file(MPI_Comm comm, const char *path, tm_error *err) TM_MUST_CHECK;

/** Collective: over the processes of each host. */
void tm_mpi_hosts_free(tm_hosts *hosts);

#endif
