/* The page of a job whose timelines are spread over processes. */
#ifndef TMERGE_MPI_REPORT_H
#define TMERGE_MPI_REPORT_H

#include <stddef.h>

#include <mpi.h>

#include "tmerge/names.h"
#include "tmerge/status.h"
#include "tmerge/table.h"
#include "tmerge/timeline.h"

typedef struct tm_mpi_report {
    const tm_timeline *timelines; /* [n_timelines] this process's, ascending in rank */
    size_t n_timelines;           /* may be 0 */
    const tm_names *names;        /* the dictionary that all timelines share, and the store has */
    const tm_tables *tables;      /* that were written to the store; for process 0 */
    const char *store;            /* what the timelines were written to; for process 0 */
    const char *path;             /* of the page; for process 0 */
    const char *version;          /* of the tool */
} tm_mpi_report;

/**
 * Writes the page of a store, as tm_report_write does: process 0 writes it, and each process looks
 * through its own timelines for it, so that none is read back.
 *
 * Collective: over comm.
 * @return  the same on all processes: TM_OK; TM_ERR_INPUT: the store is damaged; TM_ERR_OUTPUT;
 *          TM_ERR_FAULT
 */
tm_status tm_mpi_report_write(MPI_Comm comm, const tm_mpi_report *report,
                              tm_error *err) TM_MUST_CHECK;

#endif
