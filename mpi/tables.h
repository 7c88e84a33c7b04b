/* Result rows of all processes, brought together. */
#ifndef TMERGE_MPI_TABLES_H
#define TMERGE_MPI_TABLES_H

#include <mpi.h>

#include "tmerge/analysis.h"

/**
 * Moves the rows of every process to process 0, table by table, those put aside too. They are
 * sorted by their keys, and tables of many rows rest until tm_tables_find is asked for them.
 *
 * Collective: over comm.
 * @param tables  the same definitions on every process; without rows elsewhere than on 0 afterwards
 * @return        TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_gather_tables(MPI_Comm comm, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Of the keys of a table every n-th, by their hashes: all rows of a key are of one part. */
typedef struct tm_key_part {
    uint64_t number, n;
} tm_key_part;

/**
 * Brings the rows of a table with n_merged together: every row goes to the process that owns its
 * key, so that none has more than its share. Their order follows the processes;
 * sort them by their keys before use.
 *
 * Collective: over comm.
 * @param part   which rows; the others stay aside, and so do these on 2 and more processes
 * @param table  the same definition on every process; it has no text columns
 * @return       TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_join_keys(MPI_Comm comm, tm_key_part part, tm_table *table,
                           tm_error *err) TM_MUST_CHECK;

/**
 * Joins the keys of the tables with n_merged and runs the merge part of each analysis on its own,
 * one analysis after the other, and of one with many rows on part after part of its keys: such rows
 * are the most of all, and no more of them are here at once than need be.
 *
 * Collective: over comm.
 * @return  TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_merge_keys(MPI_Comm comm, const tm_names *names, tm_tables *tables,
                            tm_error *err) TM_MUST_CHECK;

#endif
