/* tmerge hang: says which ranks are missing in a stuck job, from dumps of flight recorders. */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hang/fronts.h"
#include "arguments/command.h"
#include "arguments/options.h"
#include "base/utf8.h"
#include "inputs/inputs.h"
#include "inputs/overlap_check.h"
#include "launch/signals.h"
#include "mpi/exchange/agree.h"
#include "mpi/gather_tables.h"
#include "mpi/hang_inputs.h"
#include "mpi/store_write.h"
#include "output/console.h"
#include "output/progress_line.h"
#include "run_job.h"
#include "tmerge/analysis.h"
#include "tmerge/store.h"

static const tm_option options[] = {
    {"output", 'o', "FILE.h5",
     "also write a store, with the tables hang.* and, if traces are given, all results of a merge"},
    {"json", 0, NULL, "one JSON document with all rows of the tables hang.* (see list --doc)"},
    {"world-size", 0, "N",
     "number of ranks of the job, if no dump states it (dumps of gloo do not)"},
    {"rank-map", 0, "FILE", "lines PATH RANK: the rank of each dump or trace"},
    {"step-pattern", 0, "REGEX",
     "annotations that are steps, instead of ProfilerStep#N, step N, iteration N"},
    TM_OPTIONS_CLOCKS,
    {"skip-bad", 0, NULL,
     "leave out traces that cannot be read, or that overlap another trace of their rank"},
    TM_OPTION_FORCE("; read traces that were recorded far apart"),
    TM_OPTIONS_STORE,
};

typedef struct hang {
    tm_inputs inputs;
    tm_hang_inputs of;
    int64_t n_ranks; /* --world-size; below 1: not given */
} hang;

static tm_status read_traces(tm_pipeline *p, const hang *h, tm_error *err) {
    const tm_progress_sink sink = {tm_line_bar, NULL};
    const tm_load_options load = {.inputs = h->of.traces.data,
                                  .n_inputs = h->of.traces.n,
                                  .hosts = &h->inputs.hosts,
                                  .step_pattern = p->step_pattern,
                                  .skip_bad = tm_argument(p->arguments, "skip-bad") != NULL,
                                  .progress = p->shows_progress ? &sink : NULL,
                                  .output = p->output,
                                  .guard = &tm_signals_guard};
    tm_table *left_out = tm_tables_find(&p->tables, "job.left_out");
    TM_TRY(tm_mpi_load(p->comm, &load, left_out, &p->loaded, err));
    return tm_argument(p->arguments, "force") ? TM_OK : tm_overlap_check(p->comm, &p->loaded, err);
}

static tm_status read_inputs(tm_pipeline *p, void *context, tm_error *err) {
    hang *h = context;
    p->command = "tmerge hang";
    if (p->output)
        TM_TRY(tm_pipeline_check_output(p, err));
    TM_TRY(tm_inputs_list(p->comm, p->arguments, &h->inputs, err));
    const tm_hosts *hosts = &h->inputs.hosts;
    TM_TRY(tm_mpi_hang_split(p->comm, h->inputs.list.data, h->inputs.list.n, hosts, &h->of, err));
    if (h->of.dumps.n == 0 && h->of.answers.n == 0)
        return tm_fail(err, TM_ERR_INPUT, NULL, -1,
                       "%s: tmerge hang needs dumps of flight recorders (see --help)",
                       h->of.traces.n > 0 ? "these are traces only" : "nothing here is a dump");
    if (h->of.answers.n > TM_HANG_ANSWERS_MAX)
        return tm_fail(err, TM_ERR_INPUT, ((const tm_input *)h->of.answers.data)[2].path, -1,
                       "a third answer of ncclras: tmerge hang compares two");
    TM_TRY(tm_mpi_hang_read(p->comm, &h->of, hosts, h->n_ranks, &p->tables, err));
    if (h->of.traces.n > 0)
        TM_TRY(read_traces(p, h, err));
    if (h->n_ranks > p->loaded.world_size)
        p->loaded.world_size = h->n_ranks;
    return TM_OK;
}

static tm_status analyse(tm_pipeline *p, const hang *h, tm_error *err) {
    const tm_job job = {.world_size = h->n_ranks};
    size_t n;
    const tm_analysis *const *all = tm_analyses(&n);
    tm_status status = TM_OK;
    for (size_t i = 0; i < n && p->self == 0; i++)
        if (strcmp(all[i]->name, "hang") == 0)
            status = all[i]->job(&job, &p->tables, err);
    return tm_mpi_agree(p->comm, status, err);
}

static tm_status write_store(const tm_pipeline *p, tm_error *err) {
    tm_names *names = tm_names_create();
    const tm_store_attribute attributes[] = {{"ranks", NULL, 0}, {"command", p->command, 0}};
    const tm_store_plan plan = {.path = p->output,
                                .compress = p->compress,
                                .names = names,
                                .tables = &p->tables,
                                .tool_version = TMERGE_VERSION,
                                TM_ARRAY(attributes, attributes)};
    tm_status status = tm_mpi_agree(p->comm, names ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = tm_mpi_store_write(p->comm, &plan, err);
    tm_names_destroy(names);
    return status;
}

static const char *text(const tm_table *job, const char *column) {
    const tm_cell *cell = tm_table_cell(job, 0, column);
    return cell->null ? "" : cell->value.text;
}

/* Prints a sentence. Replaces control characters: text in a dump must not control the terminal. */
static void print_sentence(const char *sentence) {
    char line[4096];
    bool valid;
    if (!*sentence)
        return;
    snprintf(line, sizeof line, "%s.", sentence);
    for (size_t at = 0, n = strlen(line), size; at < n; at += size) {
        size = tm_utf8_sequence(line + at, n - at, &valid);
        if (!valid || tm_utf8_is_control(line + at, size))
            memset(line + at, '?', size);
    }
    tm_console_wrap(line, 0, tm_console_width());
}

static void print_dumps(const tm_pipeline *p, const tm_table *job) {
    const int64_t ranks = tm_table_cell(job, 0, "ranks")->value.i;
    const int64_t dumps = tm_table_cell(job, 0, "dumps")->value.i;
    const int64_t cut = tm_table_cell(job, 0, "cut_short")->value.i;
    const char *missing = text(job, "no_dump");
    if (dumps == 0) {
        const bool two = tm_tables_find(&p->tables, "hang.move")->n_rows > 0;
        printf("%s of NCCL's RAS, no dumps\n\n", two ? "Two answers" : "An answer");
        return;
    }
    printf("Flight recorder dumps of %" PRId64 " of %" PRId64 " rank%s", dumps, ranks,
           ranks == 1 ? "" : "s");
    if (!tm_table_cell(job, 0, "ranks_known")->value.i)
        printf(" or more (--world-size N)");
    if (*missing)
        printf("; no dump of rank%s %s", strpbrk(missing, ",-") ? "s" : "", missing);
    if (cut > 0)
        printf("; %" PRId64 " cut short", cut);
    printf("\n\n");
}

static void print_screen(const tm_pipeline *p) {
    const tm_table *job = tm_tables_find(&p->tables, "hang.job");
    print_dumps(p, job);
    fputs(p->colors.strong, stdout);
    print_sentence(text(job, "verdict"));
    fputs(p->colors.off, stdout);
    print_sentence(text(job, "evidence"));
    print_sentence(text(job, "chain"));
    print_sentence(text(job, "ras"));
    if (strcmp(text(job, "confidence"), "several") == 0)
        print_sentence("The dumps do not show which of these ranks is the cause");
    if (p->output)
        printf("\nTables in %s: tmerge show %s hang\nA page of them: tmerge report %s\n", p->output,
               p->output, p->output);
}

static tm_status print_json(const tm_pipeline *p, tm_error *err) {
    const tm_table *const shown[] = {
        tm_tables_find(&p->tables, "hang.job"), tm_tables_find(&p->tables, "hang.collective"),
        tm_tables_find(&p->tables, "hang.rank"), tm_tables_find(&p->tables, "hang.ras")};
    char *document = NULL;
    TM_TRY(tm_tables_json(shown, sizeof shown / sizeof *shown, p->output, &document, err));
    fputs(document, stdout);
    free(document);
    return TM_OK;
}

static void warn(const tm_pipeline *p, const hang *h) {
    enum { SHOWN = 5 };
    const tm_table *left = tm_tables_find(&p->tables, "job.left_out");
    size_t n = 0;
    for (size_t i = 0; i < left->n_rows; i++) {
        const tm_cell *row = tm_table_row(left, i);
        const char *reason = row[1].value.text;
        if (strcmp(reason, "double") != 0 && strcmp(reason, "exported") != 0 && n++ < SHOWN)
            tm_console_warn("left out: %s", row[2].value.text);
    }
    if (n > SHOWN)
        tm_console_warn("and %zu more", n - SHOWN);
    const int64_t n_ranks =
        tm_table_cell(tm_tables_find(&p->tables, "hang.job"), 0, "ranks")->value.i;
    if (h->n_ranks > 0 && n_ranks > h->n_ranks)
        tm_console_warn("--world-size %" PRId64 ": the dumps or traces show %" PRId64 " ranks",
                        h->n_ranks, n_ranks);
    if (p->loaded.n_by_position > 0)
        tm_console_warn("%" PRId64 " of %" PRId64
                        " traces do not say their rank and are numbered by their place: if that is "
                        "wrong, give --rank-map FILE with lines PATH RANK",
                        p->loaded.n_by_position, p->loaded.n_traces);
}

static tm_status print(const tm_pipeline *p, const void *context, tm_error *err) {
    warn(p, context);
    if (tm_argument(p->arguments, "json"))
        return print_json(p, err);
    print_screen(p);
    return TM_OK;
}

/* Completes a run that has dumps but no traces. */
static tm_status finish(tm_pipeline *p, void *context, tm_error *err) {
    TM_TRY(tm_mpi_gather_tables(p->comm, &p->tables, err));
    TM_TRY(analyse(p, context, err));
    if (p->output)
        TM_TRY(write_store(p, err));
    return p->self == 0 ? print(p, context, err) : TM_OK;
}

static tm_status hang_run(const tm_arguments *arguments, tm_error *err) {
    hang h = {.of = {TM_VEC(tm_input), TM_VEC(tm_input), TM_VEC(tm_input)}};
    const tm_pipeline_input input = {
        .read = read_inputs, .without = finish, .print = print, .context = &h};
    if (arguments->n_operands == 0)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "tmerge hang needs dumps; see --help");
    TM_TRY(tm_count_parse(tm_argument(arguments, "world-size"), "world-size", &h.n_ranks, err));
    h.n_ranks = h.n_ranks < 0 ? 0 : h.n_ranks;
    if (h.n_ranks > TM_HANG_RANKS_MAX)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--world-size: no job has more than %d ranks",
                       (int)TM_HANG_RANKS_MAX);
    tm_status status = tm_pipeline_run(arguments, NULL, &input, err);
    TM_VECS_FREE(&h.of.dumps, &h.of.answers, &h.of.traces);
    tm_inputs_free(&h.inputs);
    return status;
}

const tm_command tm_command_hang = {
    .name = "hang",
    .usage = "DUMP... [ANSWER [ANSWER]] [TRACE...] [-o FILE.h5] [--json]",
    .summary =
        "Says which ranks are missing in a job that hangs, from dumps of PyTorch's flight recorder",
    .operands =
        "A DUMP is what a rank's flight recorder wrote, as a pickle or JSON: a file, a folder of "
        "these, a quoted pattern, or @FILE with one of these on each line. ANSWER is the output of "
        "ncclras -f json (NCCL 2.28.7 or later), with or without dumps: it says which processes "
        "are dead, and which ranks are behind. A second ANSWER, taken a minute later, shows which "
        "ranks launched nothing between the two. With TRACEs of the same ranks, the call and step "
        "that each ends in are printed, and times are on the job's clock.",
    TM_ARRAY(options, options),
    .run = hang_run,
};
