/* tmerge merge: the main job, from traces to a store and the summary. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "console.h"
#include "inputs.h"
#include "mpi/agree.h"
#include "mpi/load.h"
#include "mpi/match.h"
#include "mpi/names.h"
#include "mpi/store_write.h"
#include "mpi/tables.h"
#include "summary.h"
#include "tmerge/analysis.h"
#include "tmerge/store.h"

static const tm_option options[] = {
    {"output", 'o', "FILE.h5", "the store to write (tmerge.h5)"},
    {"no-html", 0, NULL, "write no report page"},
    {"rank-map", 0, "FILE", "lines PATH RANK: which rank a trace is of"},
    {"comm-pattern", 0, "REGEX",
     "kernels that communicate, besides the known ones (POSIX extended)"},
    {"align", 0, "HOW", "clocks: utc (as recorded), or none for no number between ranks"},
    {"skip-bad", 0, NULL,
     "leave out traces that cannot be read, or that overlap one of their rank"},
    {"no-compress", 0, NULL, "plain chunks in the store: larger and faster"},
    {"force", 0, NULL, "overwrite the output even where it is no tmerge store"},
    {"quiet", 'q', NULL, "show no progress"},
    {"progress", 0, "WHEN", "auto (where a person looks on), always or never"},
    {"color", 0, "WHEN", "auto, always or never"},
    {"help", 0, NULL, "this text"},
};

/* Options that change no result, and so are not part of the command that the store keeps. */
static const char *const not_stored[] = {"output", "no-html",  "no-compress", "force",
                                         "quiet",  "progress", "color"};

enum { COMMAND_INPUTS_MAX = 64 };

typedef struct merge {
    MPI_Comm comm;
    int self;
    const tm_arguments *arguments;
    const char *output;
    tm_colors colors;
    tm_inputs inputs;
    tm_tables tables;
    tm_loaded loaded;
    tm_names *names; /* the job's dictionary */
    tm_align align;
    bool shows_progress;
    tm_bar bar;
    tm_collectives collectives;
} merge;

/* The temporary file, for the handler of a signal that ends the run. */
static char temporary_path[TM_PATH_MAX + 32];

static void remove_and_leave(int signal_number) {
    unlink(temporary_path);
    _exit(128 + signal_number);
}

static void watch_signals(const char *output) {
    struct sigaction action = {.sa_handler = remove_and_leave};
    if (!tm_store_temporary_path(output, temporary_path, sizeof temporary_path))
        return;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    /* Over the file size limit a write shall fail, and be told, instead of ending the process. */
    action.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &action, NULL);
}

/* Found before anything is read: an output that is not ours, or a folder that takes no file. */
static tm_status check_output(const merge *m, tm_error *err) {
    struct stat info;
    char folder[TM_PATH_MAX + 1];
    if (strlen(m->output) >= TM_PATH_MAX)
        return tm_fail(err, TM_ERR_OUTPUT, m->output, -1, "this path is too long");
    if (m->output[0] == '\0')
        return tm_fail(err, TM_ERR_OUTPUT, NULL, -1, "the name of the output is empty");
    if (stat(m->output, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return tm_fail(err, TM_ERR_OUTPUT, m->output, -1, "this is a folder");
        if (!S_ISREG(info.st_mode)) /* a device would be replaced, not written to */
            return tm_fail(err, TM_ERR_OUTPUT, m->output, -1, "this is no regular file");
        if (!tm_argument(m->arguments, "force") && !tm_store_is_store(m->output))
            return tm_fail(err, TM_ERR_OUTPUT, m->output, -1,
                           "this file is no tmerge store; --force overwrites it");
    }
    /* The dot asks for a folder: a file in its place would only be found when it is too late. */
    const char *slash = strrchr(m->output, '/');
    snprintf(folder, sizeof folder, "%.*s.", slash ? (int)(slash - m->output) + 1 : 0, m->output);
    if (access(folder, W_OK | X_OK) != 0)
        return tm_fail(err, TM_ERR_OUTPUT, m->output, -1, "its folder takes no file: %s",
                       strerror(errno));
    return TM_OK;
}

static void warn_inputs(const merge *m) {
    const tm_table *left = tm_tables_find(&m->tables, "job.left_out");
    for (size_t i = 0; i < left->n_rows; i++) {
        const tm_cell *row = tm_table_row(left, i);
        if (strcmp(row[1].value.text, "other") != 0)
            tm_console_warn("left out %s: %s", row[0].value.text, row[2].value.text);
    }
    if (m->loaded.n_by_position > 0)
        tm_console_warn("%lld of %zu files tell%s no rank: their place among the arguments counts "
                        "(--rank-map FILE says it)",
                        (long long)m->loaded.n_by_position, m->inputs.list.n,
                        m->loaded.n_by_position == 1 ? "s" : "");
}

/* With --force too: a trace is never written over. */
static tm_status check_inputs(const merge *m, tm_error *err) {
    struct stat output, input;
    const tm_input *inputs = m->inputs.list.data;
    if (stat(m->output, &output) != 0 || tm_store_is_store(m->output))
        return TM_OK;
    for (size_t i = 0; i < m->inputs.list.n; i++)
        if (stat(inputs[i].path, &input) == 0 && input.st_dev == output.st_dev &&
            input.st_ino == output.st_ino)
            return tm_fail(err, TM_ERR_OUTPUT, m->output, -1, "this file is one of the inputs");
    return TM_OK;
}

static tm_status read_traces(merge *m, tm_error *err) {
    const char *map = tm_argument(m->arguments, "rank-map");
    TM_TRY(tm_inputs_list(m->comm, m->arguments, map, &m->inputs, err));
    TM_TRY(tm_mpi_agree(m->comm, m->self == 0 ? check_inputs(m, err) : TM_OK, err));
    const tm_progress_sink sink = {tm_console_bar, &m->bar};
    const tm_load_options load = {
        .inputs = m->inputs.list.data,
        .n_inputs = m->inputs.list.n,
        .comm_pattern = tm_argument(m->arguments, "comm-pattern"),
        .skip_bad = tm_argument(m->arguments, "skip-bad") != NULL,
        .progress = m->shows_progress ? &sink : NULL,
    };
    tm_table *left_out = tm_tables_find(&m->tables, "job.left_out");
    return tm_mpi_load(m->comm, &load, left_out, &m->loaded, err);
}

static tm_status match_ranks(merge *m, tm_error *err) {
    int64_t n_ranks = (int64_t)m->loaded.n_ranks, world = m->loaded.world_size;
    const tm_match_options match = {
        .names = m->names,
        .world_size = world > n_ranks ? world : n_ranks,
        .n_ranks = n_ranks,
        .align = m->align,
    };
    return tm_mpi_match(m->comm, &match, m->loaded.timelines, m->loaded.n_timelines,
                        &m->collectives, err);
}

static tm_status analyse(merge *m, tm_error *err) {
    tm_status status = tm_analyse_collectives(&m->collectives, &m->tables, err);
    for (size_t i = 0; i < m->loaded.n_timelines && status == TM_OK; i++)
        status = tm_analyse_rank(&m->loaded.timelines[i], m->names, &m->tables, err);
    TM_TRY(tm_mpi_agree(m->comm, status, err));
    TM_TRY(tm_mpi_gather_tables(m->comm, &m->tables, err));
    const tm_job job = {.n_ranks = m->loaded.n_ranks,
                        .world_size = m->loaded.world_size,
                        .aligned = m->align != TM_ALIGN_NONE};
    if (m->self == 0)
        status = tm_analyse_job(&job, &m->tables, err);
    return tm_mpi_agree(m->comm, status, err);
}

static bool is_stored(const char *option) {
    for (size_t i = 0; i < sizeof not_stored / sizeof *not_stored; i++)
        if (strcmp(not_stored[i], option) == 0)
            return false;
    return true;
}

/* The command as the store keeps it: what decides the results, and no more. */
static tm_status command_text(const tm_arguments *arguments, tm_vec *out, tm_error *err) {
    bool ok = tm_vec_append(out, "tmerge merge", 12) != NULL;
    for (size_t i = 0; i < arguments->command->n_options && ok; i++) {
        const char *name = arguments->command->options[i].name, *value = arguments->values[i];
        if (!value || !is_stored(name))
            continue;
        ok = tm_vec_append(out, " --", 3) && tm_vec_append(out, name, strlen(name)) &&
             (!*value || (tm_vec_append(out, "=", 1) && tm_vec_append(out, value, strlen(value))));
    }
    size_t n = arguments->n_operands;
    for (size_t i = 0; i < n && i < COMMAND_INPUTS_MAX && ok; i++)
        ok = tm_vec_append(out, " ", 1) &&
             tm_vec_append(out, arguments->operands[i], strlen(arguments->operands[i]));
    char more[48] = "";
    if (n > COMMAND_INPUTS_MAX)
        snprintf(more, sizeof more, " ... (%zu more)", n - COMMAND_INPUTS_MAX);
    ok = ok && tm_vec_append(out, more, strlen(more) + 1);
    return ok ? TM_OK : tm_fail_memory(err);
}

static tm_status write_store(merge *m, tm_error *err) {
    tm_vec command = TM_VEC(char);
    const tm_timeline **timelines = calloc(m->loaded.n_timelines + 1, sizeof *timelines);
    tm_status status = timelines ? command_text(m->arguments, &command, err) : tm_fail_memory(err);
    status = tm_mpi_agree(m->comm, status, err);
    if (status == TM_OK) {
        for (size_t i = 0; i < m->loaded.n_timelines; i++)
            timelines[i] = &m->loaded.timelines[i];
        const tm_store_attribute attributes[] = {
            {"command", command.data, 0},
            {"ranks", NULL, (int64_t)m->loaded.n_ranks},
            {"world_size", NULL, m->loaded.world_size},
        };
        const tm_store_plan plan = {
            .path = m->output,
            .timelines = timelines,
            .n_timelines = m->loaded.n_timelines,
            .compress = !tm_argument(m->arguments, "no-compress"),
            .names = m->names,
            .tables = &m->tables,
            .tool_version = TMERGE_VERSION,
            .attributes = attributes,
            .n_attributes = sizeof attributes / sizeof *attributes,
        };
        status = tm_mpi_store_write(m->comm, &plan, err);
    }
    free(timelines);
    tm_vec_free(&command);
    return status;
}

/* Process 0 decides for all: only its launcher's streams tell whether a person looks on. */
static void share_progress(merge *m) {
    int shows = m->shows_progress;
    MPI_Bcast(&shows, 1, MPI_INT, 0, m->comm);
    m->shows_progress = shows != 0;
    m->bar = tm_console_bar_create();
}

static void say(merge *m, const char *what) {
    if (m->self == 0 && m->shows_progress)
        tm_console_phase(&m->bar, what);
}

static tm_status run_phases(merge *m, tm_error *err) {
    TM_TRY(tm_mpi_agree(m->comm, m->self == 0 ? check_output(m, err) : TM_OK, err));
    TM_TRY(tm_mpi_agree(m->comm, tm_analysis_tables(&m->tables, err), err));
    TM_TRY(read_traces(m, err));
    say(m, "matching and analysing ...");
    TM_TRY(tm_mpi_unify_names(m->comm, m->loaded.names, m->loaded.timelines, m->loaded.n_timelines,
                              &m->names, err));
    TM_TRY(match_ranks(m, err));
    TM_TRY(analyse(m, err));
    say(m, "writing the store ...");
    TM_TRY(write_store(m, err));
    say(m, NULL);
    if (m->self == 0)
        warn_inputs(m);
    return m->self == 0 ? tm_summary_print(&m->tables, &m->loaded, m->output, &m->colors, err)
                        : TM_OK;
}

/* Open MPI's settings that this job is better off with, where the user has not said otherwise:
 * waiting processes give way, no single-copy probing, and on one node shared memory alone. */
static void prepare_environment(void) {
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
    const char *world = getenv("OMPI_COMM_WORLD_SIZE");
    const char *local = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    if (!world)
        setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    if (!world || (local && strcmp(world, local) == 0)) {
        setenv("OMPI_MCA_pml", "ob1", 0);
        setenv("OMPI_MCA_btl", "self,vader", 0);
    }
}

static tm_status parse_align(const char *text, tm_align *out, tm_error *err) {
    if (text && strcmp(text, "none") == 0)
        *out = TM_ALIGN_NONE;
    else if (!text || strcmp(text, "utc") == 0)
        *out = TM_ALIGN_UTC;
    else
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--align takes utc or none, not '%s'", text);
    return TM_OK;
}

static tm_status merge_run(const tm_arguments *arguments, tm_error *err) {
    const char *output = tm_argument(arguments, "output");
    merge m = {.arguments = arguments, .output = output ? output : "tmerge.h5"};
    if (arguments->n_operands == 0)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "tmerge merge needs traces; see --help");
    TM_TRY(tm_console_colors(tm_argument(arguments, "color"), 1, &m.colors, err));
    TM_TRY(parse_align(tm_argument(arguments, "align"), &m.align, err));
    TM_TRY(tm_console_progress(tm_argument(arguments, "progress"),
                               tm_argument(arguments, "quiet") != NULL, &m.shows_progress, err));
    prepare_environment();
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return tm_fail(err, TM_ERR_FAULT, NULL, -1, "MPI could not be started");
    MPI_Comm_dup(MPI_COMM_WORLD, &m.comm);
    MPI_Comm_set_errhandler(m.comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(m.comm, &m.self);
    if (m.self == 0)
        watch_signals(m.output);
    share_progress(&m);
    tm_status status = run_phases(&m, err);
    if (status != TM_OK)
        say(&m, NULL);
    tm_collectives_free(&m.collectives);
    tm_names_destroy(m.names);
    tm_loaded_free(&m.loaded);
    tm_inputs_free(&m.inputs);
    tm_tables_destroy(&m.tables);
    MPI_Comm_free(&m.comm);
    return status; /* main ends MPI, when the error is told */
}

const tm_command tm_command_merge = {
    .name = "merge",
    .usage = "TRACE... [-o FILE.h5] [options]",
    .summary = "Merges traces into one store and prints the summary",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = merge_run,
};
