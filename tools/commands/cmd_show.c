/* tmerge show: prints result tables of a store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "console.h"
#include "options.h"
#include "tmerge/analysis.h"
#include "tmerge/store.h"
#include "tmerge/table.h"

static const tm_option options[] = {
    {"json", 0, NULL, "one JSON document; integers are exact, null is a value that does not exist"},
    {"csv", 0, NULL, "comma-separated values"},
    TM_OPTION_RANK,
    {"step", 0, "LIST", "only these steps"},
    {"top", 0, "N", "only the N rows that cost most, in the table's own measure (see list --doc)"},
    TM_OPTION_COLOR,
};

typedef struct selection {
    tm_list ranks, steps;
    int64_t top;        /* -1: all */
    const char *format; /* "text", "json" or "csv" */
    tm_colors colors;
} selection;

/* True where an operand names a table, or the analysis that it is of. */
static bool names_table(const char *operand, const char *table) {
    size_t size = strlen(operand);
    return strncmp(operand, table, size) == 0 && (table[size] == '\0' || table[size] == '.');
}

static tm_status check_operands(const tm_arguments *arguments, const tm_tables *tables,
                                tm_error *err) {
    for (size_t o = 1; o < arguments->n_operands; o++) {
        bool known = false;
        for (size_t t = 0; t < tables->n_tables && !known; t++)
            known = !tables->tables[t].def->internal &&
                    names_table(arguments->operands[o], tables->tables[t].def->name);
        if (!known)
            return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                           "'%s' is no analysis and no table; tmerge list names them",
                           arguments->operands[o]);
    }
    return TM_OK;
}

static bool wanted(const tm_arguments *arguments, const char *table) {
    bool any = arguments->n_operands == 1;
    for (size_t o = 1; o < arguments->n_operands && !any; o++)
        any = names_table(arguments->operands[o], table);
    return any;
}

static tm_status parse_selection(const tm_arguments *arguments, selection *out, tm_error *err) {
    bool json = tm_argument(arguments, "json"), csv = tm_argument(arguments, "csv");
    if (json && csv)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--json and --csv exclude each other");
    out->format = json ? "json" : csv ? "csv" : "text";
    TM_TRY(tm_count_parse(tm_argument(arguments, "top"), "top", &out->top, err));
    TM_TRY(tm_list_parse(tm_argument(arguments, "rank"), "rank", &out->ranks, err));
    TM_TRY(tm_list_parse(tm_argument(arguments, "step"), "step", &out->steps, err));
    return tm_console_colors(tm_argument(arguments, "color"), 1, &out->colors, err);
}

typedef struct column_filter {
    const tm_list *list;
    int column;
} column_filter;

static bool keep_row(const tm_table *table, const tm_cell *row, void *context) {
    const column_filter *filter = context;
    (void)table;
    return !row[filter->column].null && tm_list_has(filter->list, row[filter->column].value.i);
}

/* Tables without the column are not concerned. */
static void filter_by(tm_table *table, const char *column, const tm_list *list) {
    column_filter filter = {list, tm_table_column(table->def, column)};
    if (list->n > 0 && filter.column >= 0)
        tm_table_filter(table, keep_row, &filter);
}

static tm_status print_text(const tm_table *const *tables, size_t n, const tm_colors *colors,
                            tm_error *err) {
    for (size_t i = 0; i < n; i++) {
        char *text;
        TM_TRY(tm_table_text(tables[i], tm_console_width(), &text, err));
        printf("%s%s%s%s\n%s", i > 0 ? "\n" : "", colors->strong, tables[i]->def->name, colors->off,
               text);
        free(text);
    }
    return TM_OK;
}

static tm_status print_tables(const tm_table *const *tables, size_t n, const char *store,
                              const selection *s, tm_error *err) {
    if (!tm_console_speaks()) /* here and not before: all processes leave with the same status */
        return TM_OK;
    if (strcmp(s->format, "text") == 0)
        return print_text(tables, n, &s->colors, err);
    char *text = NULL;
    tm_status status = strcmp(s->format, "json") == 0 ? tm_tables_json(tables, n, store, &text, err)
                                                      : tm_tables_csv(tables, n, &text, err);
    if (status == TM_OK)
        fputs(text, stdout);
    free(text);
    return status;
}

static tm_status show_tables(const tm_arguments *arguments, const tm_store *store,
                             const tm_tables *all, const selection *s, tm_error *err) {
    const tm_table **chosen = calloc(all->n_tables + 1, sizeof *chosen);
    size_t n = 0;
    tm_status status = chosen ? TM_OK : tm_fail_memory(err);
    for (size_t t = 0; t < all->n_tables && status == TM_OK; t++) {
        tm_table *table = &all->tables[t];
        /* A store that an older tmerge wrote may lack a table; one asked for by name is missed. */
        if (table->def->internal || !wanted(arguments, table->def->name) ||
            (arguments->n_operands == 1 && !tm_store_has_table(store, table->def->name)))
            continue;
        status = tm_store_read_table(store, table, err);
        filter_by(table, "rank", &s->ranks);
        filter_by(table, "step", &s->steps);
        if (s->top >= 0)
            tm_table_top(table, (size_t)s->top);
        chosen[n++] = table;
    }
    if (status == TM_OK)
        status = print_tables(chosen, n, arguments->operands[0], s, err);
    free(chosen);
    return status;
}

static tm_status show_run(const tm_arguments *arguments, tm_error *err) {
    selection s;
    tm_tables tables;
    tm_store *store;
    if (arguments->n_operands == 0)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "tmerge show needs a store; see --help");
    TM_TRY(parse_selection(arguments, &s, err));
    TM_TRY(tm_analysis_tables(&tables, err));
    tm_status status = check_operands(arguments, &tables, err);
    if (status == TM_OK)
        status = tm_store_open(arguments->operands[0], &store, err);
    if (status == TM_OK) {
        status = show_tables(arguments, store, &tables, &s, err);
        tm_store_close(store);
    }
    tm_tables_destroy(&tables);
    return status;
}

const tm_command tm_command_show = {
    .name = "show",
    .usage = "STORE [ANALYSIS | ANALYSIS.TABLE]... [--json | --csv] [options]",
    .summary = "Prints result tables of a store",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = show_run,
};
