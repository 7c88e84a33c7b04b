/* Assignment of the store's rows to processes. */
#ifndef TMERGE_MPI_STORE_LAYOUT_H
#define TMERGE_MPI_STORE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include "tmerge/store.h"

/** The rows of one rank in the record tables. In table t, these are n_rows[t] rows from row
 * base.first[t] on. */
typedef struct tm_store_slot {
    int64_t rank;
    int process;                 /* process that holds the timeline */
    const tm_timeline *timeline; /* NULL except on that process */
    tm_row_base base;
    int64_t n_rows[TM_N_RECORDS];
} tm_store_slot;

typedef struct tm_store_layout {
    tm_store_slot *slots; /* owned; [n_slots] all ranks of the job, ascending */
    size_t n_slots;
    int64_t n_rows[TM_N_RECORDS]; /* rows of the whole job */
} tm_store_layout;

/**
 * Gives every process all slots. Collective: over comm.
 * @param timelines  [n] timelines of this process
 * @param out        set only on TM_OK; free it with tm_store_layout_free
 * @return           the same on all processes: TM_OK; TM_ERR_FAULT
 */
tm_status tm_mpi_store_layout(MPI_Comm comm, tm_timeline *const *timelines, size_t n,
                              tm_store_layout *out, tm_error *err) TM_MUST_CHECK;

/** Frees the layout. Collective: no. */
void tm_store_layout_free(tm_store_layout *layout);

#endif
