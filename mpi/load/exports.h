/* If an input is a profiler's report, runs the profiler's own program to export it, and reads the
 * export instead. */
#ifndef TMERGE_MPI_EXPORTS_H
#define TMERGE_MPI_EXPORTS_H

#include "mpi/load/load.h"
#include "mpi/load/share.h"

/** What happens to an input. */
typedef enum tm_export_state {
    TM_EXPORT_NONE,     /* read as it is */
    TM_EXPORT_DONE,     /* a report that is exported to a temporary file, which is read */
    TM_EXPORT_GIVEN,    /* a report that is left out, because an up-to-date export of it is among
                           the inputs */
    TM_EXPORT_OUTDATED, /* an export that is older than its report: left out, because the report is
                           exported again */
    TM_EXPORT_BAD,      /* a report that cannot be exported: left out and reported */
    TM_EXPORT_KEPT      /* an export that is older than its report, but is read because the report
                           cannot be exported */
} tm_export_state;

/** Exports of all inputs. The same on every process. */
typedef struct tm_exports {
    int *states;     /* [n] tm_export_state by input; owned */
    char **paths;    /* [n] by input: path of the temporary export, or NULL; owned */
    uint64_t **seen; /* [n] by input; owned. If the job runs on several hosts, only the host that
                        made a temporary export has its file; the bit set contains that host. NULL:
                        all hosts have the file. */
    size_t n;
    char *folder; /* this host's folder of temporary exports; NULL: none; owned */
} tm_exports;

/**
 * Exports every report without an up-to-date export into a temporary folder next to the output.
 * Each process exports a part of the reports. With several hosts, each host has its own folder and
 * reads its own exports; the folder is in the temporary directory if it cannot be next to the
 * output. A process that does not find the program (tm_converter) on its PATH exports none of its
 * reports. Collective: over comm.
 * @param left_out  as in tm_mpi_load: gets a row for each bad report if options->skip_bad
 * @param out       needs tm_exports_remove, also after a failure
 * @return          TM_OK; TM_ERR_INPUT; TM_ERR_OUTPUT (the folder cannot be made); TM_ERR_FAULT;
 *                  the same on every process
 */
tm_status tm_mpi_exports_make(MPI_Comm comm, const tm_load_options *options,
                              const tm_share_readers *readers, tm_table *left_out, tm_exports *out,
                              tm_error *err) TM_MUST_CHECK;

/** Frees the exports and, if @p folder_too, removes the folder with its content. Only one process
 * per host may remove the folder, when no process reads from it any more. Collective: no. */
void tm_exports_remove(tm_exports *exports, bool folder_too);

#endif
