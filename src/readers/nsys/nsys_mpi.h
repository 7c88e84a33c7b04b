/* MPI calls, their communication, and the work of their threads between them. Private to the reader
 * of Nsight Systems exports. */
#ifndef TMERGE_NSYS_MPI_H
#define TMERGE_NSYS_MPI_H

#include "nsys_emit.h"

#define TM_NSYS_MPI_COLUMNS                                                                        \
    "start", "end", "globalTid", "textId", "commHandle", "tag", "remoteRank", "size", "recvSize",  \
        "requestHandle"

/**
 * Keeps a row of an MPI table. A call on several requests has one row for each request.
 * @return TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_nsys_mpi_row(tm_nsys_emitter *e, sqlite3_value **values, tm_error *err) TM_MUST_CHECK;

/**
 * Keeps an MPI call that is not in an MPI table, but only recorded as a range of the NVTX domain
 * MPI.
 * @param name  name id of the function
 */
tm_status tm_nsys_mpi_range(tm_nsys_emitter *e, sqlite3_value **values, uint32_t name,
                            tm_error *err) TM_MUST_CHECK;

/**
 * Makes an event from each MPI call. Call it after all rows were read.
 *
 * In a process without a GPU, a call that communicates is also a collective or a transfer
 * (timeline/host_comm.h). If the call does not block, the transfer lasts until another call has
 * waited for it or has found it done.
 *
 * Also adds the work of the threads that call MPI. This is the time between MPI calls, divided at
 * the bounds of ranges. Each piece has the name of the innermost range.
 * @return TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_nsys_add_mpi(tm_nsys_emitter *e, tm_error *err) TM_MUST_CHECK;

#endif
