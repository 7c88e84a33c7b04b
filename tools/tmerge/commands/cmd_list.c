/* tmerge list: lists formats, analyses, tables and exports. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/command.h"
#include "arguments/guess.h"
#include "base/vec.h"
#include "output/console.h"
#include "sql/sql.h"
#include "tmerge/analysis.h"
#include "tmerge/diff.h"
#include "tmerge/export.h"
#include "tmerge/reader.h"
#include "tmerge/table.h"

enum { FORMATS_AT = 15, TABLES_AT = 25 }; /* columns of the terminal at which descriptions begin */

static const tm_option options[] = {
    {"doc", 0, NULL, "every column of every table with type, unit and definition"},
};

static void print_name(int indent, const char *name, int at, const char *text) {
    char left[64];
    snprintf(left, sizeof left, "%*s%s", indent, "", name);
    tm_console_beside(stdout, left, at, text);
}

/* Prints a format, and what traces in this format lack. */
static void print_format(const tm_format *format) {
    print_name(2, format->name, FORMATS_AT, format->summary);
    if (format->cannot_tell)
        print_name(2, "", FORMATS_AT, format->cannot_tell);
}

static void print_table(const tm_table_def *def) {
    if (!def->internal)
        print_name(4, def->name, TABLES_AT, def->doc);
}

static void print_overview(void) {
    size_t n_formats, n_analyses, n_diffs, n_exports;
    const tm_format *const *formats = tm_formats(&n_formats);
    const tm_analysis *const *analyses = tm_analyses(&n_analyses);
    const tm_table_def *const *diffs = tm_diff_defs(&n_diffs);
    const tm_export_format *const *exports = tm_export_formats(&n_exports);
    puts("Formats");
    for (size_t i = 0; i < n_formats; i++)
        print_format(formats[i]);
    puts("\nAnalyses and their tables");
    for (size_t i = 0; i < n_analyses; i++) {
        print_name(2, analyses[i]->name, FORMATS_AT, analyses[i]->summary);
        for (size_t t = 0; t < analyses[i]->n_tables; t++)
            print_table(analyses[i]->tables[t]);
    }
    puts("\nTables of tmerge diff");
    for (size_t i = 0; i < n_diffs; i++)
        print_table(diffs[i]);
    puts("\nTable of tmerge query, besides all of the analyses");
    print_table(&tm_sql_events);
    puts("\nFormats of tmerge export");
    for (size_t i = 0; i < n_exports; i++)
        print_name(2, exports[i]->name, FORMATS_AT, exports[i]->summary);
}

/* Adds a table's definition if @p name is the table or its analysis, or if @p name is NULL. With @p
 * column, only if the table has this column. Returns false when out of memory. */
static bool add_def(tm_vec *defs, const tm_table_def *def, const char *name, const char *column) {
    bool wanted =
        (!name || tm_table_is_meant(def, name)) && (!column || tm_table_column(def, column) >= 0);
    return def->internal || !wanted || tm_vec_append(defs, &def, 1);
}

static bool add_defs(tm_vec *defs, const char *name, const char *column) {
    size_t n_analyses, n_diffs;
    const tm_analysis *const *analyses = tm_analyses(&n_analyses);
    const tm_table_def *const *diffs = tm_diff_defs(&n_diffs);
    bool ok = true;
    for (size_t i = 0; i < n_analyses && ok; i++)
        for (size_t t = 0; t < analyses[i]->n_tables && ok; t++)
            ok = add_def(defs, analyses[i]->tables[t], name, column);
    for (size_t i = 0; i < n_diffs && ok; i++)
        ok = add_def(defs, diffs[i], name, column);
    return ok && add_def(defs, &tm_sql_events, name, column);
}

static tm_status print_defs(const tm_table_def *const *defs, size_t n, tm_error *err) {
    char *text;
    TM_TRY(tm_table_defs_text(defs, n, tm_console_width(), &text, err));
    fputs(text, stdout);
    free(text);
    return TM_OK;
}

static tm_status print_column(const tm_table_def *def, const char *column, bool first,
                              tm_error *err) {
    const tm_table_def *shown = &(tm_table_def){
        .name = def->name, .doc = def->doc, .columns = tm_column_of(def, column), .n_columns = 1};
    fputs(first ? "" : "\n", stdout);
    return print_defs(&shown, 1, err);
}

static tm_status print_docs(const char *name, const char *column, bool *found, tm_error *err) {
    tm_vec defs = TM_VEC(const tm_table_def *);
    tm_status status = add_defs(&defs, name, column) ? TM_OK : tm_fail_memory(err);
    const tm_table_def *const *all = defs.data;
    *found = defs.n > 0;
    if (status == TM_OK && !column)
        status = print_defs(all, defs.n, err);
    for (size_t i = 0; i < defs.n && column && status == TM_OK; i++)
        status = print_column(all[i], column, i == 0, err);
    tm_vec_free(&defs);
    return status;
}

/* If a table has this name, fails because it lacks the column. */
static tm_status fail_column(const char *table, const char *column, tm_error *err) {
    tm_vec defs = TM_VEC(const tm_table_def *);
    tm_guess guess = {.word = column};
    char hint[TM_GUESS_HINT];
    tm_status status = add_defs(&defs, table, NULL) ? TM_OK : tm_fail_memory(err);
    const tm_table_def *def = defs.n > 0 ? *(const tm_table_def *const *)defs.data : NULL;
    tm_vec_free(&defs);
    if (status != TM_OK || !def || !tm_table_is_named(def, table))
        return status;
    for (int c = 0; c < def->n_columns; c++)
        tm_guess_try(&guess, def->columns[c].name);
    return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                   "%s has no column '%s'%s; tmerge list %s lists them", table, column,
                   tm_guess_hint(&guess, "", hint), table);
}

/* Prints the column of a name like "overlap.rank.idle_ns" or "overlap.idle_ns". */
static tm_status print_named_column(const char *name, bool *found, tm_error *err) {
    char table[TM_TABLE_NAME];
    const char *column = tm_table_split(name, table);
    if (!column)
        return TM_OK;
    TM_TRY(print_docs(table, column, found, err));
    return *found ? TM_OK : fail_column(table, column, err);
}

/* Prints the format of this name, which tmerge reads or writes. Returns false if there is no such
 * format. */
static bool print_named_format(const char *name) {
    size_t n_formats, n_exports;
    const tm_format *const *formats = tm_formats(&n_formats);
    const tm_export_format *const *exports = tm_export_formats(&n_exports);
    bool found = false;
    for (size_t i = 0; i < n_formats; i++)
        if (strcmp(formats[i]->name, name) == 0) {
            print_format(formats[i]);
            found = true;
        }
    for (size_t i = 0; i < n_exports; i++)
        if (strcmp(exports[i]->name, name) == 0) {
            print_name(2, exports[i]->name, FORMATS_AT, exports[i]->summary);
            found = true;
        }
    return found;
}

static tm_status fail_name(const char *name, tm_error *err) {
    tm_guess guess = {.word = name};
    char hint[TM_GUESS_HINT];
    size_t n, n_diffs;
    const tm_analysis *const *analyses = tm_analyses(&n);
    const tm_table_def *const *diffs = tm_diff_defs(&n_diffs);
    for (size_t i = 0; i < n; i++) {
        tm_guess_try(&guess, analyses[i]->name);
        for (size_t t = 0; t < analyses[i]->n_tables; t++)
            if (!analyses[i]->tables[t]->internal)
                tm_guess_try(&guess, analyses[i]->tables[t]->name);
    }
    for (size_t i = 0; i < n_diffs; i++)
        tm_guess_try(&guess, diffs[i]->name);
    return tm_fail(
        err, TM_ERR_USAGE, NULL, -1,
        "'%s' is not an analysis, table, TABLE.COLUMN or format%s; tmerge list lists them", name,
        tm_guess_hint(&guess, "", hint));
}

static tm_status print_named(const char *name, bool first, tm_error *err) {
    bool found;
    if (!first)
        puts("");
    tm_console_renamed(name);
    if (print_named_format(name))
        return TM_OK;
    TM_TRY(print_docs(name, NULL, &found, err));
    if (!found)
        TM_TRY(print_named_column(name, &found, err));
    return found ? TM_OK : fail_name(name, err);
}

static tm_status list_run(const tm_arguments *arguments, tm_error *err) {
    bool all;
    if (arguments->n_operands > 0 && tm_argument(arguments, "doc"))
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "--doc prints every table; with a name it is not needed");
    if (!tm_console_speaks())
        return TM_OK;
    for (size_t i = 0; i < arguments->n_operands; i++)
        TM_TRY(print_named(arguments->operands[i], i == 0, err));
    if (arguments->n_operands > 0)
        return TM_OK;
    if (tm_argument(arguments, "doc"))
        return print_docs(NULL, NULL, &all, err);
    print_overview();
    return TM_OK;
}

const tm_command tm_command_list = {
    .name = "list",
    .usage = "[NAME... | --doc]",
    .summary = "Lists the formats, the analyses and their tables, or describes some of them",
    .operands = "A NAME is an analysis (overlap), a table (overlap.rank), a column of a table "
                "(overlap.rank.idle_ns), or a format (kineto, perfetto).",
    TM_ARRAY(options, options),
    .run = list_run,
};
