/* Reports among the inputs, which the profiler's own program exports: the exports are read. */
#ifndef TMERGE_MPI_EXPORTS_H
#define TMERGE_MPI_EXPORTS_H

#include "mpi/load/load.h"
#include "mpi/load/share.h"

/** What becomes of an input. */
typedef enum tm_export_state {
    TM_EXPORT_NONE,     /* it is read as it is */
    TM_EXPORT_DONE,     /* a report: its temporary export is read */
    TM_EXPORT_GIVEN,    /* a report whose up-to-date export is among the inputs: left out */
    TM_EXPORT_OUTDATED, /* an export that is older than its report, which was exported: left out */
    TM_EXPORT_BAD,      /* a report that cannot be exported: left out, and told */
    TM_EXPORT_KEPT      /* an export that is older than its report, which is bad: it is read */
} tm_export_state;

/** The same on every process. */
typedef struct tm_exports {
    int *states;     /* [n] tm_export_state by input; owned */
    char **paths;    /* [n] of the temporary exports, NULL for others; owned */
    uint64_t **seen; /* [n] of these: the host that has it, alone; NULL: all see it; owned */
    size_t n;
    char *folder; /* of this host, that holds them, NULL without any; owned */
} tm_exports;

/**
 * Exports every report that needs it, each on one process and all processes at the same time, into
 * a temporary folder beside the output; where there are several hosts each has its own, if not
 * there then where temporary files go, and reads what it has exported. Without the program for it
 * (tm_converter) on the PATH of a process its reports stay as they are.
 *
 * Collective: over comm.
 * @param left_out  as in tm_mpi_load: bad ones, where options allow that
 * @param out       needs tm_exports_remove whatever comes of it
 * @return          TM_OK; TM_ERR_INPUT; TM_ERR_OUTPUT (no folder can be made there); TM_ERR_FAULT;
 *                  the same on every process
 */
tm_status tm_mpi_exports_make(MPI_Comm comm, const tm_load_options *options,
                              const tm_share_readers *readers, tm_table *left_out, tm_exports *out,
                              tm_error *err) TM_MUST_CHECK;

/** Frees what is owned and, where @p folder_too says so, removes the folder and all that lies in
 * it: for one process, when none reads them any more. Collective: no. */
void tm_exports_remove(tm_exports *exports, bool folder_too);

#endif
