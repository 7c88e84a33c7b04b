/* Analyses compute results from timelines. A registry lists all of them. */
#ifndef TMERGE_ANALYSIS_H
#define TMERGE_ANALYSIS_H

#include "tmerge/names.h"
#include "tmerge/table.h"
#include "tmerge/timeline.h"

struct tm_busy;
struct tm_calls;
struct tm_host_time;
struct tm_host_work;
struct tm_call_kinds;
struct tm_gaps;
struct tm_lost;
struct tm_vec;
struct tm_passes;
struct tm_collectives;
struct tm_ncu;
struct tm_snapshots;
struct tm_peaks;

/** The data of one rank that an analysis gets. All of it is borrowed. */
typedef struct tm_rank_view {
    const tm_timeline *timeline;
    const tm_names *names;
    size_t n_names;                   /* one more than the largest name id of the rank's events */
    const struct tm_busy *busy;       /* times in which the GPU works, as sets of intervals */
    const struct tm_calls *operators; /* the operators and their nesting */
    const struct tm_host_time *host;  /* times in which the host works, as sets of intervals */
    struct tm_call_kinds *call_kinds; /* properties of the names of calls, computed on first use */
    const struct tm_passes *passes;   /* operators of the backward pass */
    const struct tm_lost *lost;       /* launches without a recorded kernel */
    const struct tm_vec *devices; /* tm_device_busy of each device of the rank; empty if the rank
                                     uses only one device */

    /* Each of these is NULL unless the analysis asks for it in `reads`. */
    const struct tm_host_work *work;    /* host calls and operators as interval sets */
    const struct tm_gaps *gaps;         /* times without GPU work, each with its cause */
    const struct tm_calls *places;      /* the program's own functions, modules and annotations */
    const struct tm_calls *annotations; /* annotations by the program and by frameworks, except
                                           those that mark steps */
} tm_rank_view;

/** Parts of a rank view that take memory for each event and that few analyses use. Each part is
 * built for the first analysis that reads it, and freed after the last one. */
typedef enum tm_reads {
    TM_READS_WORK = 1,
    TM_READS_GAPS = 2,
    TM_READS_PLACES = 4,
    TM_READS_ANNOTATIONS = 8
} tm_reads;

/** Facts about the job that an analysis may use besides the rows of all ranks. */
typedef struct tm_job {
    size_t n_ranks;     /* number of ranks read */
    int64_t world_size; /* largest world size in any trace, -1 unknown */
    bool aligned; /* whether clocks were aligned; if not, results that compare times of different
                     ranks are left out */
    const char *align; /* how clocks were aligned: the word given to --align, or NULL */

    const tm_names *names;                /* dictionary, with the same ids on every process */
    const struct tm_ncu *ncu;             /* Nsight Compute measurements of the job's kernels, or
                                             NULL */
    const struct tm_snapshots *snapshots; /* PyTorch memory snapshots and timelines, or NULL */

    const struct tm_peaks *peaks; /* device peaks given by the user, or NULL */
    int64_t samples, tokens;      /* number of samples and of tokens that the whole job processes in
                                     a step, given by the user; 0: not given */
} tm_job;

/** One analysis: the tables that it fills, and its functions. */
typedef struct tm_analysis {
    const char *name;    /* name that the user types after `tmerge show` */
    const char *summary; /* one line for `tmerge list` */
    const tm_table_def *const *tables;
    size_t n_tables;

    unsigned reads; /* the tm_reads of the parts of the view that `rank` reads, combined with | */

    /** Adds the rows of one rank. Must not communicate with other processes. NULL: there is nothing
     * to do. */
    tm_status (*rank)(const tm_rank_view *view, tm_tables *out, tm_error *err);

    /** Adds rows for the operations that this process matched. Must not communicate with other
     * processes. NULL: there is nothing to do. */
    tm_status (*collectives)(const struct tm_collectives *own, tm_tables *out, tm_error *err);

    /**
     * Merges the rows of all ranks into one row for each key, so that process 0 need not receive a
     * row for each rank and name. Each call gets all rows of some of the keys. The function reads
     * the analysis's internal tables whose n_merged is not 0, sorted by key, and adds rows to the
     * shown tables. Must not communicate with other processes. NULL: there is nothing to do.
     * @param names  the job's dictionary, with the same ids on every process
     */
    tm_status (*merge)(const tm_names *names, tm_tables *tables, tm_error *err);

    /** Runs when the tables have the rows of all ranks, sorted by key. Sets the columns of these
     * rows that depend on the whole job, and adds the rows of tables about the job. */
    tm_status (*job)(const tm_job *job, tm_tables *out, tm_error *err);
} tm_analysis;

/** Returns all analyses in the order in which they are shown and their job functions run. */
const tm_analysis *const *tm_analyses(size_t *n);

/** Creates an empty table for every definition of every analysis. Returns TM_OK or TM_ERR_FAULT. */
tm_status tm_analysis_tables(tm_tables *out, tm_error *err) TM_MUST_CHECK;

/**
 * Runs the rank function of every analysis on one timeline.
 * @param call_kinds  belongs to the timeline's dictionary. All ranks share it, because results are
 *                    cached in it.
 * @return            TM_OK; TM_ERR_FAULT
 */
tm_status tm_analyse_rank(const tm_timeline *timeline, struct tm_call_kinds *call_kinds,
                          tm_tables *out, tm_error *err) TM_MUST_CHECK;

/** Runs the collectives function of every analysis on the operations that this process matched.
 * Returns TM_OK or TM_ERR_FAULT. */
tm_status tm_analyse_collectives(const struct tm_collectives *own, tm_tables *out,
                                 tm_error *err) TM_MUST_CHECK;

/** Packs the rows of each table that has many rows, to save memory. Call it after each rank: the
 * rows are read only after the last rank was added. Returns TM_OK or TM_ERR_FAULT. */
tm_status tm_analyse_compress(tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Sorts the tables of an analysis whose n_merged is not 0, and runs the analysis's merge function.
 * If this process has a row with some key, it must have all rows of the job with that key.
 * Afterwards removes the rows of these tables; packed rows stay. Returns TM_OK or TM_ERR_FAULT. */
tm_status tm_analyse_merged(const tm_analysis *analysis, const tm_names *names, tm_tables *tables,
                            tm_error *err) TM_MUST_CHECK;

/** Sorts the rows of all ranks, then runs the job function of every analysis. Returns TM_OK or
 * TM_ERR_FAULT. */
tm_status tm_analyse_job(const tm_job *job, tm_tables *out, tm_error *err) TM_MUST_CHECK;

#endif
