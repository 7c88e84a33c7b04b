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

static bool is_mean(const tm_cell *over_steps) {
    return !over_steps->null && strncmp(over_steps->value.text, "mean", 4) == 0;
}

/* Returns whether a value differs from the mean over all steps by 1 %. */
static bool is_off(const tm_cell *value, const tm_cell *mean) {
    return !value->null && !mean->null &&
           fabs(mean->value.r - value->value.r) > 0.01 * fabs(value->value.r);
}

/* The rows of a figure in row @p i: adjacent, and the first has 1 in the column "place". */
typedef struct figure_rows {
    tm_shown_unit unit; /* suits all values */
    bool means;         /* whether means are shown, too, because a change is that of the mean over
                           all steps, or because a mean differs from the usual step */
} figure_rows;

static figure_rows look_over(const tm_table *rows, size_t i) {
    tm_shown_range range = TM_SHOWN_RANGE;
    bool means = false;
    while (i > 0 && tm_table_cell(rows, i, "place")->value.i > 1)
        i--;
    do {
        const tm_cell *value = tm_table_cell(rows, i, "value");
        tm_shown_widen(&range, value->null ? 0.0 : value->value.r);
        means = means || is_off(value, tm_table_cell(rows, i, "mean")) ||
                is_mean(tm_table_cell(rows, i, "over_steps")) ||
                is_mean(tm_table_cell(rows, i, "first_over_steps"));
    } while (++i < rows->n_rows && tm_table_cell(rows, i, "place")->value.i > 1);
    return (figure_rows){tm_shown_unit_of(range), means};
}

/* Writes a value in its unit; "-" if it is null. */
static void show_value(const tm_cell *value, const char *unit, tm_shown_unit of_time, char *text,
                       size_t size) {
    snprintf(text, size, "-");
    if (!value->null && strcmp(unit, "ns") == 0)
        tm_shown_in((int64_t)value->value.r, of_time, text, size);
    else if (!value->null && strcmp(unit, "B") == 0)
        snprintf(text, size, "%.3f GiB", value->value.r / 1073741824.0);
    else if (!value->null)
        snprintf(text, size, "%.*f%s%s", value->value.r < 1000.0, value->value.r, *unit ? " " : "",
                 unit);
}

/* Prints "  4.25 ms  run.h5". If the mean matters, prints "  4.25 ms  run.h5 (mean 5.16 ms)". */
static void print_value(const tm_table *rows, size_t i) {
    char text[64], mean[64];
    const figure_rows figure = look_over(rows, i);
    const tm_cell *value = tm_table_cell(rows, i, "value"),
                  *of_all = tm_table_cell(rows, i, "mean");
    const tm_cell *unit = tm_table_cell(rows, i, "unit");
    const char *word = unit->null ? "" : unit->value.text;
    show_value(value, word, figure.unit, text, sizeof text);
    show_value(of_all, word, figure.unit, mean, sizeof mean);
    printf("  %12s  %s", text, tm_table_cell(rows, i, "store")->value.text);
    if (figure.means)
        printf(" (mean %s)", mean);
    puts("");
}

typedef struct change_columns {
    const char *since, *change_column, *noise_column, *verdict_column, *over_steps_column;
} change_columns;

/* Prints "since the first: +2.1 % (chance 0.4 %), higher". If means are shown, too, says what
 * changed. */
static void print_change(const tm_table *rows, size_t i, const change_columns *columns) {
    const tm_cell *change = tm_table_cell(rows, i, columns->change_column);
    const tm_cell *noise = tm_table_cell(rows, i, columns->noise_column);
    const tm_cell *verdict = tm_table_cell(rows, i, columns->verdict_column);
    if (verdict->null)
        return;
    printf("                since the %s: ", columns->since);
    const tm_cell *over_steps = tm_table_cell(rows, i, columns->over_steps_column);
    const bool means = !over_steps->null && look_over(rows, i).means;
    if (!change->null)
        printf("%+.1f %%%s", change->value.r,
               is_mean(over_steps) ? " by the mean"
               : means             ? " in the usual step"
                                   : "");
    if (!noise->null)
        printf(" (chance %.1f %%)", noise->value.r);
    printf("%s%s\n", change->null ? "" : ", ", verdict->value.text);
}

/* Prints a value with its store, and its changes in the lines below. */
static void print_row(const tm_table *rows, size_t i) {
    static const change_columns before = {"one before", "change_pct", "noise_pct", "verdict",
                                          "over_steps"},
                                first = {"first", "first_change_pct", "first_noise_pct",
                                         "first_verdict", "first_over_steps"};
    print_value(rows, i);
    print_change(rows, i, &before);
    if (tm_table_cell(rows, i, "place")->value.i > 2)
        print_change(rows, i, &first);
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
    TM_ARRAY(options, options),
    .run = trend_run,
};
