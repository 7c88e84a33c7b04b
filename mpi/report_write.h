/* Writes the page of a job whose timelines are distributed over processes. */
#ifndef TMERGE_MPI_REPORT_WRITE_H
#define TMERGE_MPI_REPORT_WRITE_H

#include <stddef.h>

#include <mpi.h>

#include "tmerge/names.h"
#include "tmerge/status.h"
#include "tmerge/table.h"
#include "tmerge/timeline.h"

typedef struct tm_mpi_report {
    tm_timeline *timelines;  /* [n_timelines] timelines of this process, ascending in rank. If their
                                events are packed, they are open only while they are used */
    size_t n_timelines;      /* may be 0 */
    const tm_names *names;   /* dictionary of the timelines and of the store */
    const tm_tables *tables; /* tables that were written to the store; only on process 0 */
    const char *store;       /* store to which the timelines were written; only on process 0 */
    const char *path;        /* path of the page; only on process 0 */
    const char *version;     /* version of tmerge */
} tm_mpi_report;

/**
 * Writes the page of a store like tm_report_write. Process 0 writes it. Each process contributes
 * the data of its own timelines, so that no timeline need be read from the store. Collective: over
 * comm.
 * @return  the same on all processes: TM_OK; TM_ERR_INPUT: the store is damaged; TM_ERR_OUTPUT;
 *          TM_ERR_FAULT
 */
tm_status tm_mpi_report_write(MPI_Comm comm, const tm_mpi_report *report,
                              tm_error *err) TM_MUST_CHECK;

#endif
