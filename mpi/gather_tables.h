/* Collects the result rows of all processes, and merges rows with equal keys. */
#ifndef TMERGE_MPI_GATHER_TABLES_H
#define TMERGE_MPI_GATHER_TABLES_H

#include <mpi.h>

#include "tmerge/analysis.h"

/**
 * Moves all rows of every process, packed or not, to process 0, table by table. Sorts them by key.
 * Tables with many rows stay packed until tm_tables_find asks for them.
 * Collective: over comm.
 * @param tables  the same definitions on every process; afterwards only process 0 has rows
 * @return        TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_gather_tables(MPI_Comm comm, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Selects the keys of part `number` of n, by the hash of the key. */
typedef struct tm_key_part {
    uint64_t number, n;
} tm_key_part;

/**
 * Sends each row of a table whose n_merged is not 0 to the process that owns the row's key. The
 * received rows are in the order of the sending processes, so the caller must sort them by key.
 * Collective: over comm.
 * @param part   selects the rows to send. If there are several processes or parts, the call packs
 *               all rows of this process and leaves them packed. Received rows are not packed.
 * @param table  table with the same definition on every process, without text columns
 * @return       TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_join_keys(MPI_Comm comm, tm_key_part part, tm_table *table,
                           tm_error *err) TM_MUST_CHECK;

/**
 * Merges the rows of all processes, one analysis after another. Sends all rows with equal keys, in
 * tables whose n_merged is not 0, to one process, and runs the analysis's merge function there. If
 * an analysis has many rows, the keys are processed in parts, so that only the rows of one part are
 * unpacked at a time. Collective: over comm.
 * @return  TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_merge_keys(MPI_Comm comm, const tm_names *names, tm_tables *tables,
                            tm_error *err) TM_MUST_CHECK;

#endif
