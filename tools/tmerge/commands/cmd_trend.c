/* tmerge trend: compares the figures of several jobs in sequence. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arguments/command.h"
#include "inputs/diff_inputs.h"
#include "output/console.h"
#include "table/shown.h"
#include "tmerge/analysis.h"
#include "tmerge/gate.h"
#include "tmerge/trend.h"

static const tm_option options[] = {
    {"json", 0, NULL, "one JSON document with the rows of the table diff.trend"},
    {"csv", 0, NULL, "the same as comma-separated values"},
};

/* Returns a unit that suits all values of the figure in row @p i. The rows of a figure are
 * adjacent, and the first has 1 in the column "place". */
static tm_shown_unit unit_of(const tm_table *rows, size_t i) {
    tm_shown_range range = TM_SHOWN_RANGE;
    while (i > 0 && tm_table_cell(rows, i, "place")->value.i > 1)
        i--;
    do {
        const tm_cell *value = tm_table_cell(rows, i, "value");
        tm_shown_widen(&range, value->null ? 0.0 : value->value.r);
    } while (++i < rows->n_rows && tm_table_cell(rows, i, "place")->value.i > 1);
    return tm_shown_unit_of(range);
}

static void print_value(const tm_table *rows, size_t i) {
    char text[64] = "-";
    const tm_cell *value = tm_table_cell(rows, i, "value"), *unit = tm_table_cell(rows, i, "unit");
    const char *word = unit->null ? "" : unit->value.text;
    if (!value->null && strcmp(word, "ns") == 0)
        tm_shown_in((int64_t)value->value.r, unit_of(rows, i), text, sizeof text);
    else if (!value->null && strcmp(word, "B") == 0)
        snprintf(text, sizeof text, "%.3f GiB", value->value.r / 1073741824.0);
    else if (!value->null)
        snprintf(text, sizeof text, "%.*f%s%s", value->value.r < 1000.0, value->value.r,
                 *word ? " " : "", word);
    printf("  %12s", text);
}

/* Prints "since the first: +2.1 % (chance 0.4 %), higher". */
static void print_change(const char *since, const tm_cell *change, const tm_cell *noise,
                         const tm_cell *verdict) {
    if (verdict->null)
        return;
    printf("                since the %s: ", since);
    if (!change->null)
        printf("%+.1f %%", change->value.r);
    if (!noise->null)
        printf(" (chance %.1f %%)", noise->value.r);
    printf("%s%s\n", change->null ? "" : ", ", verdict->value.text);
}

/* Prints a value with its store, and its changes in the lines below. */
static void print_row(const tm_table *rows, size_t i) {
    print_value(rows, i);
    printf("  %s\n", tm_table_cell(rows, i, "store")->value.text);
    print_change("one before", tm_table_cell(rows, i, "change_pct"),
                 tm_table_cell(rows, i, "noise_pct"), tm_table_cell(rows, i, "verdict"));
    if (tm_table_cell(rows, i, "place")->value.i > 2)
        print_change("first", tm_table_cell(rows, i, "first_change_pct"),
                     tm_table_cell(rows, i, "first_noise_pct"),
                     tm_table_cell(rows, i, "first_verdict"));
}

static void print_text(const tm_table *rows) {
    for (size_t i = 0; i < rows->n_rows; i++) {
        const tm_cell *kind = tm_table_cell(rows, i, "kind");
        if (tm_table_cell(rows, i, "place")->value.i == 1)
            printf("%s%s%s%s\n", i > 0 ? "\n" : "", tm_table_cell(rows, i, "figure")->value.text,
                   kind->null ? "" : " of ", kind->null ? "" : kind->value.text);
        print_row(rows, i);
    }
}

static tm_status add_store(tm_trend *trend, const char *path, tm_error *err) {
    tm_tables tables;
    TM_TRY(tm_analysis_tables(&tables, err));
    tm_status status = tm_diff_input_read(path, &tables, err);
    if (status == TM_OK)
        status = tm_trend_add(trend, path, &tables, err);
    if (status == TM_OK && !tm_gate_is_marked(&tables) && tm_console_speaks())
        tm_console_warn("%s marks no steps: its whole recording counts as one step", path);
    tm_tables_destroy(&tables);
    return status;
}

static tm_status print_trend(const tm_arguments *arguments, const tm_trend *trend, tm_error *err) {
    static const tm_table_def *const defs[] = {&tm_trend_def};
    bool json = tm_argument(arguments, "json");
    tm_tables found;
    TM_TRY(tm_tables_create(defs, 1, &found, err));
    tm_status status = tm_trend_tell(trend, &found.tables[0], err);
    if (status == TM_OK && tm_console_speaks()) {
        if (json || tm_argument(arguments, "csv"))
            status = tm_diff_inputs_print(&found, json, err);
        else
            print_text(&found.tables[0]);
    }
    tm_tables_destroy(&found);
    return status;
}

static tm_status trend_run(const tm_arguments *arguments, tm_error *err) {
    if (arguments->n_operands < 2)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "tmerge trend needs two stores or more; see --help");
    if (tm_argument(arguments, "json") && tm_argument(arguments, "csv"))
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--json and --csv exclude each other");
    tm_trend *trend = tm_trend_create();
    tm_status status = trend ? TM_OK : tm_fail_memory(err);
    for (size_t i = 0; i < arguments->n_operands && status == TM_OK; i++)
        status = add_store(trend, arguments->operands[i], err);
    if (status == TM_OK)
        status = print_trend(arguments, trend, err);
    tm_trend_destroy(trend);
    return status;
}

const tm_command tm_command_trend = {
    .name = "trend",
    .usage = "STORE STORE... [--json | --csv]",
    .summary = "Shows how the figures of several jobs changed, and which changes are beyond chance",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = trend_run,
};
