/* tmerge merge: merges traces into a store and prints the summary. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "arguments/command.h"
#include "arguments/options.h"
#include "inputs/duplicates.h"
#include "inputs/inputs.h"
#include "inputs/overlap_check.h"
#include "launch/signals.h"
#include "mpi/exchange/agree.h"
#include "mpi/load/share.h"
#include "output/progress_line.h"
#include "run_job.h"
#include "tmerge/store.h"

static const tm_option options[] = {
    {"output", 'o', "FILE.h5",
     "the store to write (tmerge.h5); nsys exports reports (.nsys-rep) into a temporary folder "
     "next to it"},
    {"html", 0, "FILE.html", "the report page to write (the store's name with .html)"},
    {"no-html", 0, NULL, "write no report page"},
    {"all-recordings", 0, NULL,
     "if a folder has one folder for each recording (iteration_10, iteration_20 of torchtitan), "
     "read all of them"},
    {"rank-map", 0, "FILE", "file with lines PATH RANK: the rank of each trace"},
    {"comm-pattern", 0, "REGEX",
     "kernels that communicate, in addition to those tmerge knows (POSIX extended)"},
    {"step-pattern", 0, "REGEX",
     "annotations that are steps, instead of ProfilerStep#N, step N, iteration N"},
    {"device-categories", 0, "NAME,...",
     "categories of events that are device work, in addition to those tmerge knows"},
    {"peak", 0, "TYPE=TFLOPS,...",
     "peak rates of a device that tmerge does not know: bf16=989.4,fp8=1978.9"},
    TM_OPTIONS_RATES(""),
    TM_OPTIONS_CLOCKS,
    {"skip-bad", 0, NULL,
     "leave out traces that cannot be read, or that overlap another trace of their rank"},
    TM_OPTION_FORCE("; merge traces that were recorded far apart"),
    TM_OPTIONS_STORE,
};

/* Options that decide which traces are read, and how they are read. The store keeps these options,
 * together with the names of the traces, as its command. All other options either do not affect
 * results, or can be given to `tmerge analyze`, too. */
static const char *const stored[] = {"all-recordings", "rank-map", "host-map", "device-categories",
                                     "skip-bad"};

enum { COMMAND_INPUTS_MAX = 64 };

typedef struct merge {
    tm_inputs inputs;
    tm_vec command; /* vector of char: the command that the store keeps */
} merge;

static bool sees_traces(const tm_inputs *inputs, int host) {
    const tm_input *v = inputs->list.data;
    for (size_t i = 0; i < inputs->list.n; i++)
        if (tm_hosts_has(v[i].seen, host))
            return true;
    return false;
}

/* Warns if some hosts see none of the traces. The shell expands patterns only on the host where
 * tmerge starts, so traces of other hosts may be missing. */
static void warn_hosts(const tm_pipeline *p, const tm_inputs *inputs) {
    int64_t n_ranks = (int64_t)p->loaded.n_ranks;
    int n_blind = 0, first = -1;
    for (int h = 0; h < inputs->hosts.n; h++)
        if (!sees_traces(inputs, h) && n_blind++ == 0)
            first = h;
    if (n_blind > 0 && p->loaded.world_size > n_ranks)
        tm_console_warn(
            "%lld of %lld ranks are read, but %d of %d hosts (%s%s) see none of these traces: name "
            "a folder, or put a pattern in quotation marks, which every host expands for itself",
            (long long)n_ranks, (long long)p->loaded.world_size, n_blind, inputs->hosts.n,
            inputs->hosts.names[first], n_blind > 1 ? ", ..." : "");
}

static void warn_inputs(const tm_pipeline *p, const void *context) {
    (void)context;
    const tm_table *left = tm_tables_find(&p->tables, "job.left_out");
    for (size_t i = 0; i < left->n_rows; i++) {
        const tm_cell *row = tm_table_row(left, i);
        const char *reason = row[1].value.text;
        if (strcmp(reason, "other") != 0 && strcmp(reason, "exported") != 0)
            tm_console_warn("left out %s: %s", row[0].value.text, row[2].value.text);
    }
    if (p->loaded.n_by_position > 0)
        tm_console_warn("%lld of %lld traces ha%s no rank: %s; if the job numbered its ranks "
                        "otherwise, give --rank-map FILE with lines PATH RANK",
                        (long long)p->loaded.n_by_position, (long long)p->loaded.n_traces,
                        p->loaded.n_by_position == 1 ? "s" : "ve",
                        p->loaded.n_by_position == p->loaded.n_by_path
                            ? "numbered from 0 in the order of paths and devices"
                            : "numbered by their place among the traces given");
    tm_warn_of_duplicates(tm_tables_find(&p->tables, "job.rank"));
}

/* Checks that the output file is not an input. A trace is never overwritten, even with --force. */
static tm_status check_inputs(const merge *m, const char *path, tm_error *err) {
    struct stat output, input;
    const tm_input *inputs = m->inputs.list.data;
    if (stat(path, &output) != 0 || tm_store_is_store(path))
        return TM_OK;
    for (size_t i = 0; i < m->inputs.list.n; i++)
        if (stat(inputs[i].path, &input) == 0 && input.st_dev == output.st_dev &&
            input.st_ino == output.st_ino)
            return tm_fail(err, TM_ERR_OUTPUT, path, -1, "this file is one of the inputs");
    return TM_OK;
}

static bool is_stored(const char *option) {
    for (size_t i = 0; i < sizeof stored / sizeof *stored; i++)
        if (strcmp(stored[i], option) == 0)
            return true;
    return false;
}

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

static tm_status read_traces(tm_pipeline *p, void *context, tm_error *err) {
    merge *m = context;
    const tm_arguments *arguments = p->arguments;
    TM_TRY(tm_pipeline_check_output(p, err));
    TM_TRY(tm_inputs_list(p->comm, arguments, &m->inputs, err));
    tm_status status = p->self == 0 ? check_inputs(m, p->output, err) : TM_OK;
    if (status == TM_OK)
        status = command_text(arguments, &m->command, err);
    TM_TRY(tm_mpi_agree(p->comm, status, err));
    p->command = m->command.data;
    const tm_progress_sink sink = {tm_line_bar, NULL};
    const tm_load_options load = {
        .inputs = m->inputs.list.data,
        .n_inputs = m->inputs.list.n,
        .hosts = &m->inputs.hosts,
        .comm_pattern = p->comm_pattern,
        .step_pattern = p->step_pattern,
        .device_categories = tm_argument(arguments, "device-categories"),
        .skip_bad = tm_argument(arguments, "skip-bad") != NULL,
        .progress = p->shows_progress ? &sink : NULL,
        .output = p->output,
        .guard = &tm_signals_guard,
    };
    tm_table *left_out = tm_tables_find(&p->tables, "job.left_out");
    TM_TRY(tm_mpi_load(p->comm, &load, left_out, &p->loaded, err));
    if (p->self == 0)
        warn_hosts(p, &m->inputs);
    return tm_argument(arguments, "force") ? TM_OK : tm_overlap_check(p->comm, &p->loaded, err);
}

static tm_status merge_run(const tm_arguments *arguments, tm_error *err) {
    merge m = {.command = TM_VEC(char)};
    const tm_pipeline_input input = {
        .read = read_traces, .warn = warn_inputs, .context = &m, .has_page = true};
    if (arguments->n_operands == 0)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "tmerge merge needs traces; see --help");
    tm_status status = tm_pipeline_run(arguments, "tmerge.h5", &input, err);
    tm_inputs_free(&m.inputs);
    tm_vec_free(&m.command);
    return status;
}

const tm_command tm_command_merge = {
    .name = "merge",
    .usage = "TRACE... [-o FILE.h5] [options]",
    .summary = "Merges traces into one store and prints the summary",
    .operands =
        "A TRACE is a file, a folder, a quoted pattern, or @FILE with one of these per line.",
    TM_ARRAY(options, options),
    .run = merge_run,
};
