/* What merge and analyze share: from the timelines of all ranks to the store and the summary. */
#ifndef TMERGE_PIPELINE_H
#define TMERGE_PIPELINE_H

#include <mpi.h>
#include <stdbool.h>

#include "command.h"
#include "console.h"
#include "mpi/align.h"
#include "mpi/load/load.h"
#include "mpi/match.h"
#include "mpi/replay/replay.h"
#include "times.h"
#include "tmerge/store.h"
#include "tmerge/table.h"

/** One run of the job, on each process. */
typedef struct tm_pipeline {
    MPI_Comm comm;
    int self;
    const tm_arguments *arguments;
    const char *output; /* path of the store to write; NULL where none is */
    char *page;         /* of the report; owned, NULL for none */
    tm_colors colors;
    bool shows_progress;
    tm_times times;

    /* What decides results besides the traces, and is stored with them: the options, where the
     * input does not change them. */
    tm_align align;
    int64_t wall_uncertainty_ns;
    const char *comm_pattern; /* NULL for none */
    const char *step_pattern; /* NULL for the known names */
    const char *peak;         /* what devices can compute, NULL for what is known of them */
    int64_t samples, tokens;  /* of the whole job in a step; 0: nobody says */
    const char *command;      /* which traces were read and how; set by the input, may be NULL */
    const struct tm_ncu *ncu; /* of process 0, set by the input, may be NULL; not stored itself */
    const struct tm_snapshots *snapshots; /* likewise */
    bool compress;
    tm_scenario *scenario; /* what is replayed besides, and */
    const tm_list *steps;  /* whose figures; set by the input, may be NULL */

    tm_tables tables; /* empty until the input has read */
    tm_loaded loaded; /* set by the input */
    tm_names *names;  /* the job's dictionary */
    tm_collectives collectives;
    tm_replay_result replay;
} tm_pipeline;

/** A store that timelines come from. */
typedef struct tm_pipeline_store {
    const char *path;
    tm_store *store;
    char *command, *align, *comm_pattern, *step_pattern, *peak; /* owned; NULL where it has none */
} tm_pipeline_store;

/** Where the timelines come from. */
typedef struct tm_pipeline_input {
    /** Sets loaded and the settings, and adds to the table job.left_out; begins with
     * tm_pipeline_check_output. Collective: over p->comm. */
    tm_status (*read)(tm_pipeline *p, void *context, tm_error *err);

    /** Warns of what was read, on process 0 before the summary; NULL where there is nothing. */
    void (*warn)(const tm_pipeline *p, const void *context);
    /** Where no timeline was read: ends the run, instead of all that follows; NULL where there
     * always is one. Collective: over p->comm. */
    tm_status (*without)(tm_pipeline *p, void *context, tm_error *err);
    /** Prints on process 0 in place of the summary; NULL: the summary. */
    tm_status (*print)(const tm_pipeline *p, const void *context, tm_error *err);
    /** On process 0, once the job is replayed: ends the run instead of analyses and a store; NULL
     * where these are made. */
    tm_status (*finish)(tm_pipeline *p, void *context, tm_error *err);
    void *context;
    bool has_page; /* a report is written beside the store; the command has the options html and
                      no-html */
} tm_pipeline_input;

/**
 * Starts MPI, reads the input, matches, analyses, writes the store and prints the summary. Knows
 * the options output, comm-pattern, step-pattern and peak of the command, and those of
 * TM_OPTIONS_CLOCKS and TM_OPTIONS_STORE (options.h).
 *
 * @param output  the store to write where no option says it; NULL where none is written
 * @return        what main ends with: the same on every process, told by none yet
 */
tm_status tm_pipeline_run(const tm_arguments *arguments, const char *output,
                          const tm_pipeline_input *input, tm_error *err) TM_MUST_CHECK;

/**
 * Finds what keeps the store from being written: an output that is not ours, or a folder that takes
 * no file. TM_OK; TM_ERR_OUTPUT. Collective: over p->comm.
 */
tm_status tm_pipeline_check_output(const tm_pipeline *p, tm_error *err) TM_MUST_CHECK;

/** Opens a store; what it was made with counts where no option says otherwise. TM_OK; TM_ERR_INPUT;
 * TM_ERR_FAULT. Collective: no. */
tm_status tm_pipeline_settings(tm_pipeline *p, tm_pipeline_store *from,
                               tm_error *err) TM_MUST_CHECK;

/** Reads its timelines and closes it. As tm_mpi_restore. Collective: over p->comm. */
tm_status tm_pipeline_restore(tm_pipeline *p, tm_pipeline_store *from, tm_error *err) TM_MUST_CHECK;
void tm_pipeline_store_close(tm_pipeline_store *from);

/** Reads a time like "5ms" (ns, us, ms or s) as nanoseconds above 0; false for anything else. */
bool tm_duration_parse(const char *text, int64_t *out);

/** The word of --align as a value; false for a word that it is not. */
bool tm_align_parse(const char *word, tm_align *out);

#endif
