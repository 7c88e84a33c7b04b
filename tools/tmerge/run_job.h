/* What merge and analyze have in common: from the timelines of all ranks to the store and the
 * summary. */
#ifndef TMERGE_RUN_JOB_H
#define TMERGE_RUN_JOB_H

#include <mpi.h>
#include <stdbool.h>

#include "arguments/command.h"
#include "mpi/align_clocks.h"
#include "mpi/load/load.h"
#include "mpi/match.h"
#include "mpi/replay/replay.h"
#include "output/console.h"
#include "output/times.h"
#include "tmerge/store.h"
#include "tmerge/table.h"

/** State of a run on each process. */
typedef struct tm_pipeline {
    MPI_Comm comm;
    int self;
    const tm_arguments *arguments;
    const char *output;       /* path of the store to write; NULL: none */
    char *page;               /* path of the report; owned; NULL: none */
    char folder[TM_PATH_MAX]; /* for temporary files */
    tm_colors colors;
    bool shows_progress;
    tm_times times;

    /* Settings that affect the results. The store keeps them. Options set them, and read() of the
     * input may change them. */
    tm_align align;
    int64_t wall_uncertainty_ns;
    const char *comm_pattern; /* NULL: none */
    const char *step_pattern; /* NULL: steps are found by the annotations of known programs */
    const char *peak;         /* peak rates of devices; NULL: the known rates */
    int64_t samples, tokens; /* number of samples and tokens that the whole job processes in a step;
                                0: unknown */
    const char *command;     /* which traces were read, and how; set by the input, may be NULL */
    const struct tm_ncu *ncu; /* on process 0; set by the input, may be NULL; not stored */
    const struct tm_snapshots *snapshots; /* same as ncu */
    bool compress;
    int64_t memory;        /* limit of this process's memory [B] from --memory; 0: default */
    tm_scenario *scenario; /* the user's scenario, which is replayed in addition to the job; set by
                              the input, may be NULL */
    const tm_list *steps;  /* steps whose figures are wanted; set by the input, may be NULL */

    tm_tables tables; /* empty until the input has been read */
    tm_loaded loaded; /* set by the input */
    tm_names *names;  /* the job's dictionary */
    tm_collectives collectives;
    tm_replay_result replay;
} tm_pipeline;

/** A store from which timelines are read. */
typedef struct tm_pipeline_store {
    const char *path;
    tm_store *store;
    char *command, *align, *comm_pattern, *step_pattern, *peak; /* owned; settings of the store;
                                                                   NULL: the store has none */
} tm_pipeline_store;

/** Where the timelines come from, and what is done with the results. */
typedef struct tm_pipeline_input {
    /** Reads the timelines into p->loaded. May change settings and add rows to job.left_out. Calls
     * tm_pipeline_check_output first. Collective: over p->comm. */
    tm_status (*read)(tm_pipeline *p, void *context, tm_error *err);

    /** Warns about the input, on process 0, before the summary. NULL: nothing to warn of. */
    void (*warn)(const tm_pipeline *p, const void *context);
    /** Called if no timeline was read. The run ends afterwards. NULL: the input always reads some
     * timeline. Collective: over p->comm. */
    tm_status (*without)(tm_pipeline *p, void *context, tm_error *err);
    /** Prints the result on process 0. NULL: print the summary. */
    tm_status (*print)(const tm_pipeline *p, const void *context, tm_error *err);
    /** Called on process 0 after the replay. The run ends afterwards, without analyses and without
     * a store. NULL: the run continues instead. */
    tm_status (*finish)(tm_pipeline *p, void *context, tm_error *err);
    void *context;
    bool has_page; /* whether to write a report next to the store; the command must have the options
                      html and no-html */
} tm_pipeline_input;

/** Starts MPI, reads the input, matches, analyses, writes the store and prints the summary. Uses
 * the command's options output, comm-pattern, step-pattern and peak, and the options of
 * TM_OPTIONS_CLOCKS and TM_OPTIONS_STORE (options.h).
 *
 * @param output  the default store to write; NULL: none
 * @return status, the same on every process; main reports the error and exits with the status */
tm_status tm_pipeline_run(const tm_arguments *arguments, const char *output,
                          const tm_pipeline_input *input, tm_error *err) TM_MUST_CHECK;

/** Checks that the store can be written: its folder is writable, and an existing file is a store.
 * TM_OK; TM_ERR_OUTPUT. Collective: over p->comm. */
tm_status tm_pipeline_check_output(const tm_pipeline *p, tm_error *err) TM_MUST_CHECK;

/** Opens a store and takes its settings. If the user gives a setting as an option, the option
 * counts. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. Collective: no. */
tm_status tm_pipeline_settings(tm_pipeline *p, tm_pipeline_store *from,
                               tm_error *err) TM_MUST_CHECK;

/** Reads the store's timelines, as tm_mpi_restore does, and closes the store. Collective: over
 * p->comm. */
tm_status tm_pipeline_restore(tm_pipeline *p, tm_pipeline_store *from, tm_error *err) TM_MUST_CHECK;
void tm_pipeline_store_close(tm_pipeline_store *from);

/** Parses a word of --align. Returns false for any other word. */
bool tm_align_parse(const char *word, tm_align *out);

#endif
