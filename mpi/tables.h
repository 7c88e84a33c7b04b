/* Result rows of all processes, brought together. */
#ifndef TMERGE_MPI_TABLES_H
#define TMERGE_MPI_TABLES_H

#include <mpi.h>

#include "tmerge/table.h"

/**
 * Moves the rows of every process to process 0, table by table. Their order follows the processes;
 * sort them by their keys before use.
 *
 * Collective: over comm.
 * @param tables  the same definitions on every process; without rows elsewhere than on 0 afterwards
 * @return        TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_gather_tables(MPI_Comm comm, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/**
 * Brings the rows of tables with n_merged together: every row goes to the process that owns its
 * key, so that none has more than its share. Their order follows the processes, as above.
 *
 * Collective: over comm.
 * @param tables  the same definitions on every process; those with n_merged have no text columns
 * @return        TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_join_keys(MPI_Comm comm, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

#endif
