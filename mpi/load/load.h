/* From files to timelines: sharing, reading and the question which rank a trace is of. */
#ifndef TMERGE_MPI_LOAD_H
#define TMERGE_MPI_LOAD_H

#include <mpi.h>

#include "base/guard.h"
#include "mpi/hosts.h"
#include "mpi/progress.h"
#include "tmerge/names.h"
#include "tmerge/table.h"
#include "tmerge/timeline.h"

/** Smaller traces are never read in parts: there is too little to gain. */
#define TM_SPLIT_MIN_BYTES (INT64_C(32) << 20)

/** A file to be read, as the command line names it. */
typedef struct tm_input {
    const char *path;
    bool from_folder;     /* found in a folder: passed over where it is no trace */
    int64_t mapped_rank;  /* what --rank-map says, else -1 */
    const uint64_t *seen; /* hosts that see it, a bit each; NULL: all */
    bool below;           /* found in a folder of the one that was named */
} tm_input;

typedef struct tm_load_options {
    const tm_input *inputs; /* [n_inputs] the same on every process */
    size_t n_inputs;
    const tm_hosts *hosts;            /* of the processes; NULL: all see all */
    const char *comm_pattern;         /* or NULL */
    const char *step_pattern;         /* or NULL */
    const char *device_categories;    /* or NULL */
    bool skip_bad;                    /* leave out what cannot be read, or overlaps */
    const tm_progress_sink *progress; /* or NULL */
    int64_t split_min_bytes;          /* 0: TM_SPLIT_MIN_BYTES; for tests */
    const char *output;    /* what is temporary lies in the same folder; NULL: the working one */
    const tm_guard *guard; /* of what is temporary, and of children; or NULL */
} tm_load_options;

/** What one process holds afterwards. */
typedef struct tm_loaded {
    tm_names *names;        /* this process's texts; owned */
    tm_timeline *timelines; /* [n_timelines] ascending in rank; owned */
    size_t n_timelines;
    int64_t *ranks; /* [n_ranks] all ranks of the job, ascending; owned */
    size_t n_ranks;
    int64_t world_size;    /* the largest that a trace names, -1 where none does */
    int64_t n_traces;      /* read: files, or the ranks in them */
    int64_t n_by_position; /* of them, those whose rank is only their place among the others; */
    int64_t n_by_path;     /* of these, those that stand in the order of their paths */
    size_t n_in_parts;     /* traces that several processes read */
} tm_loaded;

/**
 * Reads every trace on some process and builds the timeline of each rank where it was read. A plain
 * trace of more than a process's fair share is read by several, each a part of it (parts.h).
 * A report that only its profiler can read is exported first (exports.h).
 *
 * Collective: over comm.
 * @param left_out  a table of the form of job.left_out: this process adds the files that it leaves
 *                  out, with the reason
 * @param out       set only on TM_OK; free it with tm_loaded_free
 * @return          TM_OK; TM_ERR_INPUT (a trace is missing or malformed, two cover the same time of
 *                  one rank, no trace at all); TM_ERR_USAGE (a pattern); TM_ERR_OUTPUT (no room for
 *                  what is temporary); TM_ERR_FAULT; the same on every process, with the error of
 *                  the lowest one that failed
 */
tm_status tm_mpi_load(MPI_Comm comm, const tm_load_options *options, tm_table *left_out,
                      tm_loaded *out, tm_error *err) TM_MUST_CHECK;

void tm_loaded_free(tm_loaded *loaded);

#endif
