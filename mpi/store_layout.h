/* Which process holds which rows of the store. */
#ifndef TMERGE_MPI_STORE_LAYOUT_H
#define TMERGE_MPI_STORE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include "tmerge/store.h"

/** One rank's rows in all record tables: base.first[t] and the n_rows[t] from there on. */
typedef struct tm_store_slot {
    int64_t rank;
    int process;                 /* that holds it */
    const tm_timeline *timeline; /* NULL where another process holds it */
    tm_row_base base;
    int64_t n_rows[TM_N_RECORDS];
} tm_store_slot;

typedef struct tm_store_layout {
    tm_store_slot *slots; /* owned; [n_slots] all ranks of the job, ascending */
    size_t n_slots;
    int64_t n_rows[TM_N_RECORDS]; /* of the job */
} tm_store_layout;

/**
 * Tells every process all slots.
 *
 * Collective: over comm.
 * @param timelines  [n] those that this process holds
 * @param out        set only on TM_OK; ended by tm_store_layout_free
 * @return           the same on all processes: TM_OK; TM_ERR_FAULT
 */
tm_status tm_mpi_store_layout(MPI_Comm comm, const tm_timeline *const *timelines, size_t n,
                              tm_store_layout *out, tm_error *err) TM_MUST_CHECK;

/** Collective: no. */
void tm_store_layout_free(tm_store_layout *layout);

#endif
