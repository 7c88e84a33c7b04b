/* tmerge hang: of a job that is stuck, who is missing, from the dumps of flight recorders. */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hang/fronts.h"
#include "base/utf8.h"
#include "command.h"
#include "console.h"
#include "inputs.h"
#include "launch.h"
#include "mpi/agree.h"
#include "mpi/hang.h"
#include "mpi/store_write.h"
#include "mpi/tables.h"
#include "options.h"
#include "output.h"
#include "spread.h"
#include "tmerge/analysis.h"
#include "tmerge/store.h"

static const tm_option options[] = {
    {"output", 'o', "FILE.h5", "also writes the tables hang.* to a store"},
    {"json", 0, NULL, "one JSON document with all rows of the tables hang.* (see list --doc)"},
    {"world-size", 0, "N", "ranks of the job, where no dump tells them (gloo's)"},
    {"rank-map", 0, "FILE", "lines PATH RANK: which rank a dump is of"},
    TM_OPTION_FORCE(""),
    TM_OPTION_JOBS,
    TM_OPTION_COLOR,
};

typedef struct hang {
    MPI_Comm comm;
    int self;
    const tm_arguments *arguments;
    const char *output; /* NULL: none */
    int64_t n_ranks;    /* as the user says; else below 1 */
    tm_colors colors;
    tm_tables tables;
} hang;

static bool is_store(const void *context, const char *path) {
    (void)context;
    return tm_store_is_store(path);
}

static tm_status check_output(const hang *h, tm_error *err) {
    static const tm_output_kind store = {"tmerge store", is_store, NULL};
    return h->output
               ? tm_output_check(h->output, &store, tm_argument(h->arguments, "force") != NULL, err)
               : TM_OK;
}

static tm_status read_dumps(hang *h, tm_error *err) {
    tm_inputs inputs = {0};
    TM_TRY(tm_mpi_agree(h->comm, h->self == 0 ? check_output(h, err) : TM_OK, err));
    TM_TRY(tm_mpi_agree(h->comm, tm_analysis_tables(&h->tables, err), err));
    TM_TRY(tm_inputs_list(h->comm, h->arguments, &inputs, err));
    tm_status status =
        tm_mpi_hang_read(h->comm, inputs.list.data, inputs.list.n, &inputs.hosts, &h->tables, err);
    if (status == TM_OK)
        status = tm_mpi_gather_tables(h->comm, &h->tables, err);
    tm_inputs_free(&inputs);
    return status;
}

static tm_status analyse(hang *h, tm_error *err) {
    const tm_job job = {.world_size = h->n_ranks};
    size_t n;
    const tm_analysis *const *all = tm_analyses(&n);
    tm_status status = TM_OK;
    for (size_t i = 0; i < n && h->self == 0; i++)
        if (strcmp(all[i]->name, "hang") == 0)
            status = all[i]->job(&job, &h->tables, err);
    return tm_mpi_agree(h->comm, status, err);
}

static tm_status write_store(const hang *h, tm_error *err) {
    tm_names *names = tm_names_create();
    const tm_store_attribute attributes[] = {{"ranks", NULL, 0}, {"command", "tmerge hang", 0}};
    const tm_store_plan plan = {.path = h->output,
                                .compress = true,
                                .names = names,
                                .tables = &h->tables,
                                .tool_version = TMERGE_VERSION,
                                .attributes = attributes,
                                .n_attributes = sizeof attributes / sizeof *attributes};
    tm_status status = tm_mpi_agree(h->comm, names ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = tm_mpi_store_write(h->comm, &plan, err);
    tm_names_destroy(names);
    return status;
}

static const char *text(const tm_table *job, const char *column) {
    const tm_cell *cell = tm_table_cell(job, 0, column);
    return cell->null ? "" : cell->value.text;
}

/* What stands in dumps must not steer the terminal. */
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

static void print_dumps(const tm_table *job) {
    const int64_t ranks = tm_table_cell(job, 0, "ranks")->value.i;
    const int64_t dumps = tm_table_cell(job, 0, "dumps")->value.i;
    const int64_t cut = tm_table_cell(job, 0, "cut_short")->value.i;
    const char *missing = text(job, "no_dump");
    printf("Flight recorders' dumps of %" PRId64 " of %" PRId64 " rank%s", dumps, ranks,
           ranks == 1 ? "" : "s");
    if (*missing)
        printf("; none of %s", missing);
    if (cut > 0)
        printf("; %" PRId64 " cut short", cut);
    if (!tm_table_cell(job, 0, "ranks_told")->value.i)
        printf("; nothing tells how many ranks the job has (--world-size N)");
    printf("\n\n");
}

static void print_screen(const hang *h) {
    const tm_table *job = tm_tables_find(&h->tables, "hang.job");
    print_dumps(job);
    fputs(h->colors.strong, stdout);
    print_sentence(text(job, "verdict"));
    fputs(h->colors.off, stdout);
    print_sentence(text(job, "evidence"));
    print_sentence(text(job, "chain"));
    if (strcmp(text(job, "confidence"), "several") == 0)
        print_sentence("Which of these it is, the dumps do not tell");
    if (h->output)
        printf("\nTables in %s: tmerge show %s hang\n", h->output, h->output);
}

static tm_status print_json(const hang *h, tm_error *err) {
    const tm_table *const shown[] = {tm_tables_find(&h->tables, "hang.job"),
                                     tm_tables_find(&h->tables, "hang.collective"),
                                     tm_tables_find(&h->tables, "hang.rank")};
    char *document = NULL;
    TM_TRY(tm_tables_json(shown, sizeof shown / sizeof *shown, h->output, &document, err));
    fputs(document, stdout);
    free(document);
    return TM_OK;
}

static void warn(const hang *h) {
    enum { SHOWN = 5 };
    const tm_table *left = tm_tables_find(&h->tables, "job.left_out");
    size_t n = 0;
    for (size_t i = 0; i < left->n_rows; i++) {
        const tm_cell *row = tm_table_row(left, i);
        if (strcmp(row[1].value.text, "double") != 0 && n++ < SHOWN)
            tm_console_warn("left out: %s", row[2].value.text);
    }
    const int64_t n_ranks =
        tm_table_cell(tm_tables_find(&h->tables, "hang.job"), 0, "ranks")->value.i;
    if (h->n_ranks > 0 && n_ranks > h->n_ranks)
        tm_console_warn("--world-size %" PRId64 ": the dumps tell of %" PRId64 " ranks", h->n_ranks,
                        n_ranks);
    if (n > SHOWN)
        tm_console_warn("and %zu more", n - SHOWN);
}

static tm_status run_phases(hang *h, tm_error *err) {
    TM_TRY(read_dumps(h, err));
    TM_TRY(analyse(h, err));
    if (h->output)
        TM_TRY(write_store(h, err));
    if (h->self != 0)
        return TM_OK;
    warn(h);
    if (tm_argument(h->arguments, "json"))
        return print_json(h, err);
    print_screen(h);
    return TM_OK;
}

static tm_status hang_run(const tm_arguments *arguments, tm_error *err) {
    hang h = {.arguments = arguments, .output = tm_argument(arguments, "output")};
    if (arguments->n_operands == 0)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "tmerge hang needs dumps; see --help");
    TM_TRY(tm_count_parse(tm_argument(arguments, "world-size"), "world-size", &h.n_ranks, err));
    h.n_ranks = h.n_ranks < 0 ? 0 : h.n_ranks;
    if (h.n_ranks > TM_HANG_RANKS_MAX)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--world-size: no job has more than %d ranks",
                       (int)TM_HANG_RANKS_MAX);
    TM_TRY(tm_console_colors(tm_argument(arguments, "color"), 1, &h.colors, err));
    TM_TRY(tm_spread(arguments, err));
    TM_TRY(tm_launch_mpi(err));
    MPI_Comm_dup(MPI_COMM_WORLD, &h.comm);
    MPI_Comm_rank(h.comm, &h.self);
    if (h.self == 0 && h.output)
        tm_output_watch(h.output);
    tm_status status = run_phases(&h, err);
    tm_tables_destroy(&h.tables);
    MPI_Comm_free(&h.comm);
    return status;
}

const tm_command tm_command_hang = {
    .name = "hang",
    .usage = "DUMP... [-o FILE.h5] [--json]",
    .summary = "Says who is missing in a job that hangs, from dumps of PyTorch's flight recorder",
    .operands = "A DUMP is what a rank's flight recorder wrote, as a pickle or JSON: a file, a "
                "folder of these, a quoted pattern, or @FILE with one of these on each line.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = hang_run,
};
