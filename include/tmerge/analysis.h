/* Analyses: what is computed from timelines, behind one registry. */
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

/** What an analysis sees of one rank. All borrowed. */
typedef struct tm_rank_view {
    const tm_timeline *timeline;
    const tm_names *names;
    size_t n_names; /* those of its events are below: of many ranks' names these are few */
    const struct tm_busy *busy;       /* the rank's GPU time as interval sets, computed once */
    const struct tm_calls *operators; /* how its operators lie in one another, computed once */
    const struct tm_host_time *host;  /* its host's time as interval sets, computed once */
    struct tm_call_kinds *call_kinds; /* what names tell, looked at when first asked for */
    const struct tm_passes *passes;   /* which operators are backward's, computed once */
    const struct tm_lost *lost;       /* launches without a recorded kernel, computed once */
    const struct tm_vec *devices;     /* of tm_device_busy, where it works on several; once, too */

    /* Only for who says that it reads them; else NULL. */
    const struct tm_host_work *work;    /* its host's calls and operators as interval sets */
    const struct tm_gaps *gaps;         /* when its GPU did nothing, and why */
    const struct tm_calls *places;      /* the program's own code, modules, annotations */
    const struct tm_calls *annotations; /* of the program and frameworks, steps left out */
} tm_rank_view;

/** What of a rank view takes memory for every event and is asked for by few: it is there from the
 * first analysis that reads it to the last. */
typedef enum tm_reads {
    TM_READS_WORK = 1,
    TM_READS_GAPS = 2,
    TM_READS_PLACES = 4,
    TM_READS_ANNOTATIONS = 8
} tm_reads;

/** What an analysis sees of the job besides the rows of all ranks. */
typedef struct tm_job {
    size_t n_ranks;     /* ranks read */
    int64_t world_size; /* the largest that a trace names, -1 unknown */
    bool aligned;       /* cross-rank numbers exist */
    const char *align;  /* how clocks were brought together: the word of --align, or NULL */

    const tm_names *names;    /* the dictionary: its ids are the same on every process */
    const struct tm_ncu *ncu; /* what Nsight Compute measured of its kernels, or NULL */
    const struct tm_snapshots *snapshots; /* what PyTorch wrote of its memory, or NULL */

    const struct tm_peaks *peaks; /* of its devices as the user has them, or NULL */
    int64_t samples, tokens;      /* of the whole job in a step, as the user says; 0: nobody does */
} tm_job;

/** One analysis: what it fills, and the two places where it computes. */
typedef struct tm_analysis {
    const char *name;    /* as typed after `tmerge show` */
    const char *summary; /* one line for `tmerge list` */
    const tm_table_def *const *tables;
    size_t n_tables;

    unsigned reads; /* tm_reads, or'ed: what its rank part needs of the rank */

    /** Adds one rank's rows. No communication. NULL where there is nothing to do. */
    tm_status (*rank)(const tm_rank_view *view, tm_tables *out, tm_error *err);

    /** Adds rows of the operations that this process matched. No communication. NULL where there is
     * nothing to do. */
    tm_status (*collectives)(const struct tm_collectives *own, tm_tables *out, tm_error *err);

    /**
     * Makes one row of the rows of all ranks that have a key in common: reads its internal tables
     * with n_merged, which are sorted by their keys and hold every row of some of the keys, and
     * adds to the tables that are shown. So neither messages nor process 0 hold ranks x names rows.
     * No communication. NULL where there is nothing to do.
     *
     * @param names  the dictionary of the job: its ids are the same on every process
     */
    tm_status (*merge)(const tm_names *names, tm_tables *tables, tm_error *err);

    /** Completes the rows of all ranks, sorted by their keys, and adds the job's. */
    tm_status (*job)(const tm_job *job, tm_tables *out, tm_error *err);
} tm_analysis;

/** All analyses, in the order in which they are shown and their job parts run. */
const tm_analysis *const *tm_analyses(size_t *n);

/** Creates an empty table for every definition of every analysis. TM_OK; TM_ERR_FAULT. */
tm_status tm_analysis_tables(tm_tables *out, tm_error *err) TM_MUST_CHECK;

/**
 * Runs every analysis on one rank's timeline.
 * @param call_kinds  of the dictionary of its names, for all ranks; what is looked at stays in it
 * @return            TM_OK; TM_ERR_FAULT
 */
tm_status tm_analyse_rank(const tm_timeline *timeline, struct tm_call_kinds *call_kinds,
                          tm_tables *out, tm_error *err) TM_MUST_CHECK;

/** Runs every analysis on the operations that this process matched. TM_OK; TM_ERR_FAULT. */
tm_status tm_analyse_collectives(const struct tm_collectives *own, tm_tables *out,
                                 tm_error *err) TM_MUST_CHECK;

/**
 * Puts the rows of ranks aside that only wait for those of other ranks, where they have become
 * many: between one rank and the next. TM_OK; TM_ERR_FAULT.
 */
tm_status tm_analyse_put_aside(tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Sorts the tables with n_merged of an analysis, whose rows of one key are together by now, runs
 * its merge part, and takes their rows out but for those put aside. TM_OK; TM_ERR_FAULT. */
tm_status tm_analyse_merged(const tm_analysis *analysis, const tm_names *names, tm_tables *tables,
                            tm_error *err) TM_MUST_CHECK;

/** Sorts the rows of all ranks, then runs every analysis on the job. TM_OK; TM_ERR_FAULT. */
tm_status tm_analyse_job(const tm_job *job, tm_tables *out, tm_error *err) TM_MUST_CHECK;

#endif
