/* tmerge query: SQL over the tables and events of a store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/command.h"
#include "arguments/guess.h"
#include "output/console.h"
#include "sql/sql.h"
#include "tmerge/analysis.h"

static const tm_option options[] = {
    {"json", 0, NULL, "one JSON document: the rows, as a table named \"query\""},
    {"csv", 0, NULL, "the same as comma-separated values"},
    {"timeout", 0, "SECONDS", "limit of the query's processor time (600)"},
    {"memory", 0, "MIB", "limit of the query's memory for sorting and grouping (1024)"},
};

typedef struct request {
    const char *store, *text; /* text: the query; NULL: list the tables */
    bool json, csv;
    tm_sql_limits limits;
} request;

static tm_status parse_limit(const tm_arguments *arguments, const char *option, int64_t usual,
                             int64_t *out, tm_error *err) {
    enum { MOST = 1 << 24 };
    TM_TRY(tm_count_parse(tm_argument(arguments, option), option, out, err));
    *out = *out < 0 ? usual : *out;
    return *out > 0 && *out <= MOST ? TM_OK
                                    : tm_fail(err, TM_ERR_USAGE, NULL, -1,
                                              "--%s takes a number from 1 to %d", option, MOST);
}

static tm_status parse(const tm_arguments *arguments, request *out, tm_error *err) {
    int64_t mib = 0;
    *out = (request){.json = tm_argument(arguments, "json"), .csv = tm_argument(arguments, "csv")};
    if (arguments->n_operands == 0 || arguments->n_operands > 2)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "tmerge query needs a store and a statement, in quotes; see --help");
    if (out->json && out->csv)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--json and --csv exclude each other");
    out->store = arguments->operands[0];
    out->text = arguments->n_operands == 2 ? arguments->operands[1] : NULL;
    TM_TRY(parse_limit(arguments, "timeout", 600, &out->limits.seconds, err));
    TM_TRY(parse_limit(arguments, "memory", 1024, &mib, err));
    out->limits.memory_bytes = mib << 20;
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

/* Rows that are counted when they are read. */
typedef struct counted {
    const tm_rows *rows;
    size_t *n;
} counted;

typedef struct count_visit {
    size_t *n;
    tm_rows_visitor *visitor;
    void *context;
} count_visit;

static tm_status count_slice(void *context, const tm_table *slice, tm_error *err) {
    const count_visit *visit = context;
    *visit->n += slice->n_rows;
    return visit->visitor(visit->context, slice, err);
}

static tm_status each_counted(const tm_rows *rows, tm_rows_visitor *visitor, void *context,
                              tm_error *err) {
    const counted *of = rows->source;
    count_visit visit = {of->n, visitor, context};
    return of->rows->each(of->rows, count_slice, &visit, err);
}

/* Says that there are no rows, so that a header without rows does not look like a failure. */
static tm_status print_text(const tm_rows *rows, const tm_sink_out *sink, tm_error *err) {
    const tm_text_style style = {.width = tm_console_width()};
    size_t n = 0;
    const counted of = {rows, &n};
    TM_TRY(tm_stream_text(&(tm_rows){rows->def, each_counted, &of}, &style, sink, err));
    if (n == 0)
        tm_out_string(sink->out, "no rows\n");
    return TM_OK;
}

static tm_status print_rows(const request *r, const tm_rows *rows, tm_error *err) {
    tm_out out = TM_OUT();
    const tm_sink_out sink = {&out, spill};
    if (r->json)
        tm_json_begin(&out, r->store);
    tm_status status = r->json  ? tm_stream_json(rows, &sink, err)
                       : r->csv ? tm_stream_csv(rows, &sink, err)
                                : print_text(rows, &sink, err);
    if (r->json)
        tm_json_end(&out, 1);
    if (status == TM_OK)
        status = spill(&out, err);
    tm_vec_free(&out.bytes);
    return status;
}

/* Finds the name of the missing table in the error message of a query. */
static bool find_lacking(const tm_error *err, char *word, size_t size) {
    static const char said[] = "no such table: ";
    const char *name = err->message + strlen(said);
    if (strncmp(err->message, said, strlen(said)) != 0)
        return false;
    snprintf(word, size, "%.*s", (int)strcspn(name, ";"), name);
    return true;
}

/* If a query names an unknown table, adds a hint to the error message. */
static void hint_table(const tm_store *store, tm_error *err) {
    char hint[TM_GUESS_HINT], word[64];
    size_t n, at = strlen(err->message);
    const char *const *names = tm_store_tables(store, &n);
    if (!find_lacking(err, word, sizeof word))
        return;
    tm_guess guess = {.word = word};
    tm_guess_try(&guess, tm_sql_events.name);
    for (size_t i = 0; i < n; i++)
        tm_guess_try(&guess, names[i]);
    snprintf(err->message + at, sizeof err->message - at, "%s; tmerge query STORE lists them",
             tm_guess_hint(&guess, "", hint));
}

/* Prepares the query. If the query has a table's former name, replaces the name and tries again. */
static tm_status prepare(const request *r, tm_sql *sql, tm_sql_query **out, tm_error *err) {
    for (;;) {
        char word[64];
        tm_status status = tm_sql_prepare(sql, r->text, &r->limits, out, err);
        const tm_renamed *renamed = status == TM_ERR_USAGE && find_lacking(err, word, sizeof word)
                                        ? tm_renamed_find(word)
                                        : NULL;
        if (!renamed)
            return status;
        tm_console_renamed(word);
        TM_TRY(tm_sql_add_renamed(sql, renamed, err));
    }
}

static tm_status print_query(const request *r, const tm_store *store, tm_sql *sql, tm_error *err) {
    tm_sql_query *query = NULL;
    tm_status status = prepare(r, sql, &query, err);
    if (status != TM_OK) {
        hint_table(store, err);
        return status;
    }
    const tm_rows rows = tm_sql_rows(query);
    status = print_rows(r, &rows, err);
    tm_sql_free(query);
    return status;
}

static tm_status query_store(const request *r, const tm_store *store, tm_error *err) {
    tm_sql *sql = NULL;
    TM_TRY(tm_sql_open(store, &sql, err));
    tm_status status = print_query(r, store, sql, err);
    tm_sql_close(sql);
    return status;
}

static const tm_column listed_columns[] = {
    {"table", TM_TEXT, "", "Name of the table as written in SQL, without quotes."},
    {"n_rows", TM_INT, "", "Number of rows; null for the events."},
    {"columns", TM_TEXT, "", "Names of the table's columns, separated by commas."},
};
static const tm_table_def listed = {.name = "query.tables",
                                    .doc = "One row for each table that a query can read.",
                                    TM_ARRAY(columns, listed_columns),
                                    .n_keys = 1,
                                    .top = -1,
                                    .n_prose = 1};

static tm_status add_listed(const tm_store *store, const tm_table_def *def, tm_table *out,
                            tm_error *err) {
    tm_out names = TM_OUT();
    char plain[128], *text = NULL;
    size_t n = 0;
    bool events = def == &tm_sql_events;
    tm_cell *row = tm_table_add_row(out);
    for (int c = 0; c < def->n_columns; c++) {
        tm_out_string(&names, c == 0 ? "" : ", ");
        tm_out_string(&names, def->columns[c].name);
    }
    TM_TRY(tm_out_take(&names, &text, NULL, err));
    tm_sql_plain_name(def->name, plain, sizeof plain);
    tm_status status = row ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK)
        status = tm_table_set_text(out, &row[0], plain, err);
    if (status == TM_OK)
        status = tm_table_set_text(out, &row[2], text, err);
    if (status == TM_OK && !events)
        status = tm_store_table_rows(store, def->name, &n, err);
    if (status == TM_OK && !events)
        tm_cell_set_int(&row[1], (int64_t)n);
    free(text);
    return status;
}

static tm_status list_tables(const request *r, const tm_store *store, tm_error *err) {
    static const tm_table_def *const defs[] = {&listed};
    tm_tables known = {0}, out = {0};
    tm_status status = tm_analysis_tables(&known, err);
    if (status == TM_OK)
        status = tm_tables_create(defs, 1, &out, err);
    if (status == TM_OK)
        status = add_listed(store, &tm_sql_events, &out.tables[0], err);
    for (size_t t = 0; t < known.n_tables && status == TM_OK; t++)
        if (!known.tables[t].def->internal && tm_store_has_table(store, known.tables[t].def->name))
            status = add_listed(store, known.tables[t].def, &out.tables[0], err);
    if (status == TM_OK) {
        const tm_rows rows = tm_rows_of(&out.tables[0]);
        status = print_rows(r, &rows, err);
    }
    tm_tables_destroy(&out);
    tm_tables_destroy(&known);
    return status;
}

static tm_status query_run(const tm_arguments *arguments, tm_error *err) {
    request r;
    tm_store *store;
    TM_TRY(parse(arguments, &r, err));
    if (!tm_console_speaks()) /* only one process prints */
        return TM_OK;
    TM_TRY(tm_store_open(r.store, &store, err));
    tm_status status = r.text ? query_store(&r, store, err) : list_tables(&r, store, err);
    tm_store_close(store);
    return status;
}

const tm_command tm_command_query = {
    .name = "query",
    .usage = "STORE ['SELECT ...'] [--json | --csv] [--timeout SECONDS] [--memory MIB]",
    .summary = "Answers a question in SQL about the tables and events of a store",
    .operands =
        "The statement is one of SQLite's SELECT, WITH or VALUES, in one pair of quotes. Without a "
        "statement, tmerge lists the tables and their columns. A table is written job_rank or "
        "job.rank; the table events has all events. A query writes nothing and reads no other "
        "file. Example, the all-reduce with the most exposed time: \"SELECT * FROM "
        "collectives_instance WHERE kind = 'allreduce' ORDER BY exposed_ns DESC LIMIT 1\".",
    TM_ARRAY(options, options),
    .run = query_run,
};
