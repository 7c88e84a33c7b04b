/* Reads timelines from a store, as load.h does from traces. */
#ifndef TMERGE_MPI_STORE_READ_H
#define TMERGE_MPI_STORE_READ_H

#include "mpi/load/load.h"
#include "tmerge/store.h"

/**
 * Reads the timeline of every rank on one process; all processes get about the same number of
 * events. Determines roles and steps again. Collective: over comm.
 * @param store     open on every process
 * @param patterns  only the patterns of these options are used
 * @param left_out  a table with the columns of job.left_out: process 0 adds the store's rows
 * @param out       set only on TM_OK; free it with tm_loaded_free
 * @return          TM_OK; TM_ERR_INPUT (the store is damaged); TM_ERR_USAGE (an invalid pattern);
 *                  TM_ERR_FAULT; the same on every process, with the error of the lowest process
 *                  that failed
 */
tm_status tm_mpi_restore(MPI_Comm comm, const tm_store *store, const tm_load_options *patterns,
                         tm_table *left_out, tm_loaded *out, tm_error *err) TM_MUST_CHECK;

#endif
