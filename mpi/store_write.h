/* Writes the store of a job whose timelines are distributed over processes. */
#ifndef TMERGE_MPI_STORE_WRITE_H
#define TMERGE_MPI_STORE_WRITE_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include "tmerge/store.h"

typedef struct tm_store_plan {
    const char *path; /* path of the store; the same on all processes */
    /* [n_timelines] timelines of this process, ascending in rank. If their events are packed, the
     * events of a column are open only while it is written */
    tm_timeline *const *timelines;
    size_t n_timelines; /* may be 0 */
    bool compress;      /* whether to pack the chunks; the same on all processes */
    size_t chunk_rows;  /* rows of a chunk; 0: TM_STORE_CHUNK_ROWS; the same on all processes */

    /* Used only on process 0. */
    const tm_names *names;   /* dictionary of all timelines */
    const tm_tables *tables; /* result tables, may be NULL */
    const char *tool_version;
    /* [n_attributes] attributes of the file's root: command, options */
    const tm_store_attribute *attributes;
    size_t n_attributes;
} tm_store_plan;

/**
 * Writes the store. The file gets its name when it is complete. Every process packs its share of
 * the chunks, and process 0 writes them in order. The file is therefore identical for any number of
 * processes and any distribution of ranks. If a process fails, other processes do not wait for it.
 * Collective: over comm.
 * @param plan  what to write; exactly one process has the timeline of each rank
 * @param err   the same on all processes
 * @return      the same on all processes: TM_OK; TM_ERR_OUTPUT: the file cannot be written. Then no
 *              part of it is left, and an older file of that name is unchanged; TM_ERR_FAULT: out
 *              of memory, two processes hold the same rank, or 2^31 steps or more
 */
tm_status tm_mpi_store_write(MPI_Comm comm, const tm_store_plan *plan, tm_error *err) TM_MUST_CHECK;

#endif
