/* Calls of MPI, what they communicated and what the threads that made them did between them.
 * Private to the reader of Nsight Systems exports. */
#ifndef TMERGE_NSYS_MPI_H
#define TMERGE_NSYS_MPI_H

#include "nsys_emit.h"

#define TM_NSYS_MPI_COLUMNS                                                                        \
    "start", "end", "globalTid", "textId", "commHandle", "tag", "remoteRank", "size", "recvSize",  \
        "requestHandle"

/** Keeps a row of a table of MPI's calls: a call that is about several requests has a row of each.
 * TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_nsys_mpi_row(tm_nsys_emitter *e, sqlite3_value **values, tm_error *err) TM_MUST_CHECK;

/** Keeps a call that the export tells as a range of NVTX's domain MPI: by its name alone. */
tm_status tm_nsys_mpi_range(tm_nsys_emitter *e, sqlite3_value **values, uint32_t name,
                            tm_error *err) TM_MUST_CHECK;

/**
 * Makes an event of each call, once all rows are read. Of a process that uses no GPU a call that
 * communicates is a collective or a transfer too, as timeline/host_comm.h has them: one that only
 * begins lasts until a call has waited for it or found it done. What the threads that call MPI did
 * between its calls is the rank's work, in pieces by the innermost range. TM_OK; TM_ERR_INPUT;
 * TM_ERR_FAULT.
 */
tm_status tm_nsys_add_mpi(tm_nsys_emitter *e, tm_error *err) TM_MUST_CHECK;

#endif
