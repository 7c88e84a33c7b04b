/* tmerge show: prints result tables of a store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/command.h"
#include "arguments/guess.h"
#include "arguments/options.h"
#include "output/console.h"
#include "output/csv_folder.h"
#include "show/no_rows.h"
#include "show/report_names.h"
#include "show/select.h"
#include "show/show_overview.h"
#include "tmerge/analysis.h"

static const tm_option options[] = {
    {"all", 0, NULL, "every table in full; without --all and without a name, an overview"},
    {"json", 0, NULL,
     "one JSON document; integers are exact, null stands for a value that does not exist"},
    {"csv", 0, NULL, "comma-separated values, of one table"},
    TM_OPTION_CSV_DIR,
    TM_OPTION_RANK,
    {"step", 0, "LIST", "only these steps"},
    {"where", 0, "EXPR",
     "only rows that match: COLUMN OP VALUE, joined by and, or (and binds first). OP is = != < <= "
     "> >= or ~ (contains the text). A VALUE for a time may have a unit (5ms); with a unit, a "
     "point in time counts from the job's start. A VALUE with blanks needs quotes; null means no "
     "value"},
    {"columns", 0, "LIST", "only these columns, in this order"},
    {"sort", 0, "COLUMN",
     "sort by this column, smallest first, texts from A to Z and by the numbers in them; -COLUMN: "
     "largest first, texts from Z to A"},
    {"top", 0, "N",
     "only the first N rows by --sort; without --sort, the N rows that cost most by the table's "
     "own measure"},
    {"absolute", 0, NULL,
     "print points in time since the epoch; by default they count from the job's start, with a + "
     "before their unit (--json and --csv are always absolute)"},
    TM_OPTION_COLOR,
};

typedef struct request {
    const tm_arguments *arguments;
    tm_show_options options;
    const char *format; /* "text", "json" or "csv" */
    const char *folder; /* folder for CSV files; NULL: none */
    tm_colors colors;
    tm_text_style style;
} request;

typedef struct chosen {
    const tm_table_def **defs; /* owned */
    size_t n;
} chosen;

/* Fails if a name is that of a column, such as "overlap.rank.idle_ns". */
static tm_status check_no_column(const char *name, const tm_tables *tables, tm_error *err) {
    char table[TM_TABLE_NAME];
    const char *column = tm_table_split(name, table);
    const tm_table *found = column ? tm_tables_look_up(tables, table) : NULL;
    return found && !found->def->internal && tm_table_column(found->def, column) >= 0
               ? tm_fail(err, TM_ERR_USAGE, NULL, -1,
                         "%s is a column: %s --columns %s shows it, and tmerge list %s explains it",
                         name, table, column, name)
               : TM_OK;
}

static tm_status fail_name(const char *name, const tm_tables *tables, tm_error *err) {
    tm_guess guess = {.word = name};
    char hint[TM_GUESS_HINT];
    size_t n;
    TM_TRY(check_no_column(name, tables, err));
    const tm_analysis *const *analyses = tm_analyses(&n);
    for (size_t i = 0; i < n; i++)
        tm_guess_try(&guess, analyses[i]->name);
    for (size_t t = 0; t < tables->n_tables; t++)
        if (!tables->tables[t].def->internal)
            tm_guess_try(&guess, tables->tables[t].def->name);
    return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                   "'%s' is neither an analysis nor a table%s; tmerge list lists them", name,
                   tm_guess_hint(&guess, "", hint));
}

static tm_status check_operands(const tm_arguments *arguments, const tm_tables *tables,
                                tm_error *err) {
    for (size_t o = 1; o < arguments->n_operands; o++) {
        bool known = false;
        for (size_t t = 0; t < tables->n_tables && !known; t++)
            known = !tables->tables[t].def->internal &&
                    tm_table_is_meant(tables->tables[t].def, arguments->operands[o]);
        if (!known)
            return fail_name(arguments->operands[o], tables, err);
        tm_console_renamed(arguments->operands[o]);
    }
    return TM_OK;
}

static bool wanted(const tm_arguments *arguments, const tm_table_def *def) {
    bool any = arguments->n_operands == 1;
    for (size_t o = 1; o < arguments->n_operands && !any; o++)
        any = tm_table_is_meant(def, arguments->operands[o]);
    return any;
}

static tm_status parse_request(const tm_arguments *arguments, request *out, tm_error *err) {
    bool json = tm_argument(arguments, "json"), csv = tm_argument(arguments, "csv");
    *out = (request){.arguments = arguments};
    TM_TRY(tm_show_options_parse(arguments, &out->options, err));
    out->folder = tm_argument(arguments, "csv-dir");
    if (json && csv)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--json and --csv exclude each other");
    if ((json || csv) && out->folder)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--csv-dir excludes --json and --csv");
    if (arguments->n_operands > 1 && tm_argument(arguments, "all"))
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "--all prints every table: '%s' cannot be given too",
                       arguments->operands[1]);
    out->format = json ? "json" : csv ? "csv" : "text";
    TM_TRY(tm_console_colors(tm_argument(arguments, "color"), 1, &out->colors, err));
    out->style = (tm_text_style){.width = tm_console_width(), .bars = *out->colors.off != '\0'};
    return TM_OK;
}

/* Returns whether at least one requested table has the column guess->word. Also offers the columns
 * of all requested tables to @p guess, for a hint at a mistyped name. */
static bool any_has(const request *r, const tm_tables *tables, tm_guess *guess) {
    const char *column = guess->word;
    bool found = false;
    for (size_t t = 0; t < tables->n_tables; t++) {
        const tm_table_def *def = tables->tables[t].def;
        if (def->internal || !wanted(r->arguments, def))
            continue;
        found = found || tm_table_column(def, column) >= 0;
        for (int c = 0; c < def->n_columns; c++)
            tm_guess_try(guess, def->columns[c].name);
    }
    return found;
}

/* Fails because no table has all requested columns. @p lacks is one of the missing columns. */
static tm_status fail_column(const request *r, const tm_tables *tables, const char *lacks,
                             tm_error *err) {
    tm_guess guess = {.word = lacks};
    char hint[TM_GUESS_HINT];
    const tm_arguments *a = r->arguments;
    if (any_has(r, tables, &guess))
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "no table has all of the requested columns, '%s' and others", lacks);
    if (a->n_operands != 2)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "no table has a column '%s'%s; see tmerge list",
                       lacks, tm_guess_hint(&guess, "", hint));
    return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                   "%s has no column '%s'%s; tmerge list %s lists them", a->operands[1], lacks,
                   tm_guess_hint(&guess, "", hint), a->operands[1]);
}

static bool names_it(const tm_arguments *arguments, const tm_table_def *def) {
    for (size_t i = 1; i < arguments->n_operands; i++)
        if (tm_table_is_named(def, arguments->operands[i]))
            return true;
    return false;
}

/* Chooses the tables. Leaves out tables that lack a requested column. A store of an older tmerge
 * may lack a table; this is an error only if the table or its whole analysis was requested by name.
 */
static tm_status choose_tables(const request *r, const tm_store *store, const tm_tables *tables,
                               chosen *out, tm_error *err) {
    const char *lacks = NULL;
    const tm_table_def *absent = NULL;
    size_t n_left = 0;
    out->defs = calloc(tables->n_tables + 1, sizeof *out->defs);
    if (!out->defs)
        return tm_fail_memory(err);
    for (size_t t = 0; t < tables->n_tables; t++) {
        const tm_table_def *def = tables->tables[t].def;
        if (def->internal || !wanted(r->arguments, def))
            continue;
        if (!tm_store_has_table(store, def->name)) {
            absent = !absent || names_it(r->arguments, def) ? def : absent;
            continue;
        }
        const char *missing = tm_show_options_lacks(&r->options, def);
        tm_guess guess = {.word = missing};
        n_left += missing != NULL;
        if (!missing)
            out->defs[out->n++] = def;
        /* If there is a column that no table has, the error names that one. */
        else if (!lacks || !any_has(r, tables, &guess))
            lacks = missing;
    }
    if (absent && (names_it(r->arguments, absent) || (out->n == 0 && !lacks)))
        return tm_fail(err, TM_ERR_INPUT, r->arguments->operands[0], -1,
                       "the store is older and has no table %s; tmerge analyze adds it",
                       absent->name);
    if (lacks && out->n == 0)
        return fail_column(r, tables, lacks, err);
    if (n_left > 0 && r->arguments->n_operands > 1 && tm_console_speaks())
        tm_console_warn("%zu of the tables lack a requested column and are left out", n_left);
    return TM_OK;
}

static tm_status spill(tm_out *out, tm_error *err) {
    if (out->failed)
        return tm_fail_memory(err);
    if (out->bytes.n > 0)
        (void)fwrite(out->bytes.data, 1, out->bytes.n, stdout); /* main checks ferror */
    out->bytes.n = 0;
    return TM_OK;
}

static tm_status count_rows(void *context, const tm_table *slice, tm_error *err) {
    (void)err;
    *(size_t *)context += slice->n_rows;
    return TM_OK;
}

/* Prints that a table has no rows, so that a header without rows does not look like a failure.
 * @param alone whether the table is the only one. If so, and if no option selects rows, also prints
 *              which rows the table would have */
static tm_status print_empty(const request *r, const tm_store *store, const tm_table_def *def,
                             bool alone, const tm_sink_out *sink, tm_error *err) {
    const tm_show_options *c = &r->options;
    char why[TM_NO_ROWS_MAX];
    TM_TRY(tm_no_rows_why(store, def, c, why, err));
    tm_out_string(sink->out, *why ? "no rows:" : "no rows\n");
    TM_TRY(spill(sink->out, err));
    if (*why)
        tm_console_wrap(why, (int)strlen("no rows:"), r->style.width);
    if (alone && c->ranks.n == 0 && c->steps.n == 0 && !c->where.is_given)
        tm_console_wrap(def->doc, 0, r->style.width);
    return TM_OK;
}

static tm_status print_rows(const request *r, const tm_selection *selection, size_t i, size_t n,
                            const tm_sink_out *sink, tm_error *err) {
    const tm_rows all = tm_selection_rows(selection), *rows = &all;
    const char *name = rows->def->name;
    if (strcmp(r->format, "json") == 0) {
        tm_json_between(sink->out, i);
        return tm_stream_json(rows, sink, err);
    }
    if (strcmp(r->format, "csv") == 0)
        return tm_stream_csv(rows, sink, err);
    tm_out_string(sink->out, i > 0 ? "\n" : "");
    tm_out_string(sink->out, r->colors.strong);
    tm_out_string(sink->out, name);
    tm_out_string(sink->out, r->colors.off);
    tm_out_string(sink->out, "\n");
    size_t n_rows = 0;
    TM_TRY(rows->each(rows, count_rows, &n_rows, err));
    if (n_rows == 0 && r->options.top != 0)
        return print_empty(r, selection->store, selection->of, n == 1, sink, err);
    tm_text_style style = r->style;
    if (strcmp(name, "job.job") ==
        0) /* this table says when the job started, so its times stay relative to the epoch */
        style.origin_ns = 0;
    return tm_stream_text(rows, &style, sink, err);
}

/* Warns if --where leaves no rows because no text meets a condition. */
static tm_status warn_empty(const request *r, const tm_selection *selection, tm_error *err) {
    const tm_rows rows = tm_selection_rows(selection);
    char why[TM_NO_ROWS_MAX];
    size_t n = 0;
    TM_TRY(tm_no_rows_why(selection->store, selection->of, &r->options, why, err));
    if (why[0])
        TM_TRY(rows.each(&rows, count_rows, &n, err));
    if (why[0] && n == 0)
        tm_console_warn("%s has no such rows: %s", rows.def->name, why);
    return TM_OK;
}

static tm_status print_table(const request *r, const tm_store *store, const chosen *tables,
                             size_t i, const tm_sink_out *sink, tm_error *err) {
    tm_selection selection;
    tm_status status = tm_selection_make(store, tables->defs[i], &r->options, &selection, err);
    if (status == TM_OK) {
        const tm_rows rows = tm_selection_rows(&selection);
        if (r->folder)
            status = tm_csv_folder_add(r->folder, &rows, err);
        else
            status = print_rows(r, &selection, i, tables->n, sink, err);
        if (status == TM_OK && tables->n == 1 && strcmp(r->format, "text") != 0)
            status = warn_empty(r, &selection, err);
    }
    tm_selection_free(&selection);
    return status;
}

/* Prints one table after another. Reads each in slices, because a table may have any number of
 * rows. */
static tm_status print_tables(const request *r, const tm_store *store, const chosen *tables,
                              tm_error *err) {
    tm_out out = TM_OUT();
    const tm_sink_out sink = {&out, spill};
    bool json = strcmp(r->format, "json") == 0;
    if (json)
        tm_json_begin(&out, r->arguments->operands[0]);
    tm_status status = r->folder ? tm_csv_folder_make(r->folder, err) : TM_OK;
    for (size_t i = 0; i < tables->n && status == TM_OK; i++)
        status = print_table(r, store, tables, i, &sink, err);
    if (json)
        tm_json_end(&out, tables->n);
    if (status == TM_OK)
        status = spill(&out, err);
    tm_vec_free(&out.bytes);
    return status;
}

/* Fails if several tables are chosen: programs that read CSV expect one header. */
static tm_status check_csv(const request *r, const chosen *tables, tm_error *err) {
    if (strcmp(r->format, "csv") != 0 || tables->n <= 1)
        return TM_OK;
    return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                   "--csv prints one table, but these are %zu (%s, %s%s): name one, or let "
                   "--csv-dir FOLDER write a file of each",
                   tables->n, tables->defs[0]->name, tables->defs[1]->name,
                   tables->n > 2 ? ", ..." : "");
}

/* Verifies all tables before anything is printed, so that nothing of a damaged store is printed. */
static tm_status verify(const request *r, const tm_store *store, const chosen *tables,
                        tm_error *err) {
    for (size_t i = 0; i < tables->n; i++) {
        tm_selection selection;
        size_t n_rows;
        const tm_show_options none = {.arguments = r->arguments,
                                      .top = -1,
                                      .columns = r->options.columns,
                                      .where = r->options.where};
        tm_status status = tm_selection_make(store, tables->defs[i], &none, &selection, err);
        if (status == TM_OK)
            status = tm_store_verify_table(store, tables->defs[i], &n_rows, err);
        tm_selection_free(&selection);
        TM_TRY(status);
    }
    return TM_OK;
}

static tm_status show_tables(const request *r, const tm_store *store, tm_tables *tables,
                             tm_error *err) {
    chosen out = {NULL, 0};
    bool overview = r->arguments->n_operands == 1 && strcmp(r->format, "text") == 0 && !r->folder &&
                    !r->options.is_given && !tm_argument(r->arguments, "all");
    TM_TRY(tm_show_options_check(&r->options, store, err));
    tm_status status = choose_tables(r, store, tables, &out, err);
    if (status == TM_OK)
        status = check_csv(r, &out, err);
    if (status == TM_OK && !overview)
        status = verify(r, store, &out, err);
    if (status == TM_OK && tm_console_speaks()) /* only one process prints; checked only here, so
                                                   that earlier failures occur on all processes */
        status = overview
                     ? tm_overview_print(store, tables, r->arguments->operands[0], &r->colors, err)
                     : print_tables(r, store, &out, err);
    free(out.defs);
    return status;
}

/* Reads the job's start. Sets 0 if it is unknown, or if the times of some ranks count from 0. */
static tm_status read_begin(const tm_store *store, const tm_tables *tables, int64_t *out,
                            tm_error *err) {
    *out = 0;
    if (!tm_store_has_table(store, "job.job"))
        return TM_OK;
    tm_table *job = tm_tables_find(tables, "job.job");
    TM_TRY(tm_store_read_table(store, job, err));
    if (job->n_rows > 0 && !tm_table_cell(job, 0, "begin_ns")->null &&
        !tm_table_cell(job, 0, "duration_ns")->null)
        *out = tm_table_cell(job, 0, "begin_ns")->value.i;
    tm_table_clear(job);
    return TM_OK;
}

static tm_status show_store(request *r, tm_error *err) {
    tm_tables tables;
    tm_store *store;
    TM_TRY(tm_analysis_tables(&tables, err));
    tm_status status = check_operands(r->arguments, &tables, err);
    if (status == TM_OK)
        status = tm_store_open(r->arguments->operands[0], &store, err);
    if (status == TM_OK) {
        if (!tm_argument(r->arguments, "absolute"))
            status = read_begin(store, &tables, &r->style.origin_ns, err);
        r->options.where.origin_ns = r->style.origin_ns;
        if (status == TM_OK)
            status = show_tables(r, store, &tables, err);
        tm_store_close(store);
    }
    tm_tables_destroy(&tables);
    return status;
}

static tm_status show_run(const tm_arguments *arguments, tm_error *err) {
    request r;
    tm_report_arguments answered;
    if (arguments->n_operands == 0)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "tmerge show needs a store; see --help");
    TM_TRY(tm_reports_answer(arguments, &answered, err));
    tm_status status = parse_request(&answered.arguments, &r, err);
    if (status == TM_OK)
        status = show_store(&r, err);
    tm_show_options_free(&r.options);
    return status;
}

const tm_command tm_command_show = {
    .name = "show",
    .usage = "STORE [ANALYSIS | ANALYSIS.TABLE]... [--all | --json | --csv | --csv-dir FOLDER] "
             "[options]",
    .summary = "Prints an overview of a store, or its result tables",
    .operands = TM_REPORTS_HELP,
    TM_ARRAY(options, options),
    .run = show_run,
};
