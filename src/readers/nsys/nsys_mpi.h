/* MPI calls, their communication, and the work of their threads between them. Private to the reader
 * of Nsight Systems exports. */
#ifndef TMERGE_NSYS_MPI_H
#define TMERGE_NSYS_MPI_H

#include "nsys_emit.h"

#define TM_NSYS_MPI_COLUMNS                                                                        \
    "start", "end", "globalTid", "textId", "commHandle", "tag", "remoteRank", "size", "recvSize",  \
        "requestHandle"

/** Keeps a row of an MPI table: a call on several requests has one row for each. TM_OK;
 * TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_nsys_mpi_row(tm_nsys_emitter *e, sqlite3_value **values, tm_error *err) TM_MUST_CHECK;

/** Keeps a call that only a range of the NVTX domain MPI records. @p name is the function. */
tm_status tm_nsys_mpi_range(tm_nsys_emitter *e, sqlite3_value **values, uint32_t name,
                            tm_error *err) TM_MUST_CHECK;

/** Makes an event from each call. Call it after all rows were read. In a process without a GPU, a
 * call that communicates is also a collective or transfer (timeline/host_comm.h). If the call does
 * not block, the transfer lasts until another call has waited for it or found it done. The work of
 * the threads that call MPI is the time between MPI calls, cut at the bounds of ranges and named by
 * the innermost one. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_nsys_add_mpi(tm_nsys_emitter *e, tm_error *err) TM_MUST_CHECK;

#endif
