/* Exports profiler reports among the inputs with the profiler's own program and reads the exports
 * instead. */
#ifndef TMERGE_MPI_EXPORTS_H
#define TMERGE_MPI_EXPORTS_H

#include "mpi/load/load.h"
#include "mpi/load/share.h"

/** What happens to an input. */
typedef enum tm_export_state {
    TM_EXPORT_NONE,     /* read as it is */
    TM_EXPORT_DONE,     /* a report whose temporary export is read */
    TM_EXPORT_GIVEN,    /* a report whose up-to-date export is among the inputs: left out */
    TM_EXPORT_OUTDATED, /* an export older than its report, which was exported: left out */
    TM_EXPORT_BAD,      /* a report that cannot be exported: left out and reported */
    TM_EXPORT_KEPT      /* an export older than its report; it is read, because the report is bad */
} tm_export_state;

/** Exports of all inputs. The same on every process. */
typedef struct tm_exports {
    int *states;     /* [n] tm_export_state by input; owned */
    char **paths;    /* [n] paths of the temporary exports, NULL for other inputs; owned */
    uint64_t **seen; /* [n] for temporary exports of jobs on several hosts: bit set of the host that
                        has the file; NULL: all hosts; owned */
    size_t n;
    char *folder; /* this host's folder of exports; NULL: none; owned */
} tm_exports;

/**
 * Exports every report without an up-to-date export into a temporary folder next to the output.
 * Each process exports a part of the reports. With several hosts, each host has its own folder, if
 * necessary in the temporary directory, and reads its own exports. A process without the program
 * (tm_converter) on its PATH does not export its reports. Collective: over comm.
 * @param left_out  as in tm_mpi_load: gets bad reports, if options allow that
 * @param out       needs tm_exports_remove, also after a failure
 * @return          TM_OK; TM_ERR_INPUT; TM_ERR_OUTPUT (no folder can be made there); TM_ERR_FAULT;
 *                  the same on every process
 */
tm_status tm_mpi_exports_make(MPI_Comm comm, const tm_load_options *options,
                              const tm_share_readers *readers, tm_table *left_out, tm_exports *out,
                              tm_error *err) TM_MUST_CHECK;

/** Frees the exports and, if @p folder_too, removes the folder with its content. Only one process
 * per host may remove it, when no process reads from it any more. Collective: no. */
void tm_exports_remove(tm_exports *exports, bool folder_too);

#endif
