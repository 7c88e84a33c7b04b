/* From files to timelines: distributing and reading traces, and determining their ranks. */
#ifndef TMERGE_MPI_LOAD_H
#define TMERGE_MPI_LOAD_H

#include <mpi.h>

#include "base/guard.h"
#include "mpi/exchange/process_hosts.h"
#include "mpi/exchange/progress.h"
#include "tmerge/names.h"
#include "tmerge/table.h"
#include "tmerge/timeline.h"

/** Minimum size [B] of a trace that is read in parts; a smaller trace would gain too little. */
#define TM_SPLIT_MIN_BYTES (INT64_C(32) << 20)

/** A file to read, from the command line. */
typedef struct tm_input {
    const char *path;
    bool from_folder; /* the file was found in a folder, so it is left out if it is not a trace */
    int64_t mapped_rank;  /* rank in --rank-map, else -1 */
    const uint64_t *seen; /* bit set of the hosts that see the file; NULL: all */
    bool below; /* the file was found in a subfolder of the folder that the command line names */
} tm_input;

typedef struct tm_load_options {
    const tm_input *inputs; /* [n_inputs] the same on every process */
    size_t n_inputs;
    const tm_hosts *hosts;            /* hosts of the processes; NULL: every process sees all
                                         files */
    const char *comm_pattern;         /* or NULL */
    const char *step_pattern;         /* or NULL */
    const char *device_categories;    /* or NULL */
    bool skip_bad;                    /* leave out files that cannot be read, and traces that
                                         overlap another trace of their rank */
    const tm_progress_sink *progress; /* or NULL */
    int64_t split_min_bytes;          /* replaces TM_SPLIT_MIN_BYTES in tests; 0: no replacement */
    const char *output;    /* temporary files are created in the folder of this file; NULL: the
                              working directory */
    const tm_guard *guard; /* removes temporary files and stops children if tmerge is killed; or
                              NULL */
} tm_load_options;

/** Timelines held by one process after loading. */
typedef struct tm_loaded {
    tm_names *names;        /* texts of this process; owned */
    tm_timeline *timelines; /* [n_timelines] ascending in rank; owned */
    size_t n_timelines;
    int64_t *ranks; /* [n_ranks] all ranks of the job, ascending; owned */
    size_t n_ranks;
    int64_t world_size;    /* largest world size in a trace, -1 if no trace has one */
    int64_t n_traces;      /* number of traces read; a file with several ranks counts once for each
                              rank */
    int64_t n_by_position; /* number of traces that do not record their rank; the rank follows from
                              their position among all traces */
    int64_t n_by_path; /* number of the traces in n_by_position whose position follows from their
                          path */
    size_t n_in_parts; /* number of traces that several processes read */
} tm_loaded;

/**
 * Reads every trace on one process, and builds each rank's timeline on the process that read its
 * traces. A plain trace larger than a process's fair share is read in parts by several processes
 * (trace_parts.h). A report that only its profiler can read is exported first (exports.h).
 * Collective: over comm.
 * @param left_out  a table with the columns of job.left_out: this process adds the files that it
 *                  leaves out, with the reason
 * @param out       set only on TM_OK; free it with tm_loaded_free
 * @return          TM_OK; TM_ERR_INPUT (a trace is missing or malformed, two traces cover the same
 *                  time of one rank, there is no trace at all); TM_ERR_USAGE (an invalid pattern);
 *                  TM_ERR_OUTPUT (no space for temporary files); TM_ERR_FAULT; the same on every
 *                  process, with the error of the lowest process that failed
 */
tm_status tm_mpi_load(MPI_Comm comm, const tm_load_options *options, tm_table *left_out,
                      tm_loaded *out, tm_error *err) TM_MUST_CHECK;

void tm_loaded_free(tm_loaded *loaded);

#endif
