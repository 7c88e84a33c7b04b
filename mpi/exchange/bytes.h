/* Transfers byte strings of any length. Sends them in pieces, because MPI's counts are ints. */
#ifndef TMERGE_MPI_BYTES_H
#define TMERGE_MPI_BYTES_H

#include <mpi.h>
#include <stddef.h>

#include "tmerge/status.h"

/** Sends @p size bytes to @p to, which must call tm_mpi_receive_bytes. Collective: no. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_mpi_send_bytes(MPI_Comm comm, int to, int tag, const void *bytes, size_t size,
                            tm_error *err) TM_MUST_CHECK;

/** Receives the bytes of a tm_mpi_send_bytes. On TM_OK, @p bytes is set to malloc'ed memory that
 * the caller owns; it is never NULL. When out of memory, receives and drops the bytes and returns
 * TM_ERR_FAULT. Collective: no. */
tm_status tm_mpi_receive_bytes(MPI_Comm comm, int from, int tag, void **bytes, size_t *size,
                               tm_error *err) TM_MUST_CHECK;

/**
 * Gives every process the bytes of process 0. Collective: over comm.
 * @param bytes  process 0: the bytes, borrowed; other processes: set to malloc'ed bytes
 * @return       TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_broadcast_bytes(MPI_Comm comm, void **bytes, size_t *size,
                                 tm_error *err) TM_MUST_CHECK;

#endif
