/* tmerge gate: fails, for continuous integration, if a job became slower than allowed. */
#include <stdio.h>
#include <string.h>

#include "analysis/shared/doubt.h"
#include "arguments/command.h"
#include "inputs/diff_inputs.h"
#include "output/console.h"
#include "tmerge/gate.h"

static const tm_option options[] = {
    {"max", 0, "LIMIT",
     "limit of a figure: FIGURE=+X% if it may be up to X% higher, FIGURE=-X% if it may be up to X% "
     "lower (and any amount higher). FIGURE is step, compute, comm, exposed, idle, wait, input, "
     "utilization, memory, "
     "samples or tokens (per second). May be given several times"},
    {"json", 0, NULL, "one JSON document with the rows of the table diff.gate"},
    {"csv", 0, NULL, "the same as comma-separated values"},
};

enum { LIMITS_MAX = 64 };

typedef struct limits {
    tm_gate_limit all[LIMITS_MAX];
    size_t n;
} limits;

static tm_status parse_limits(const tm_arguments *arguments, limits *out, tm_error *err) {
    for (size_t i = 0; i < arguments->n_given; i++) {
        if (strcmp(arguments->given[i].name, "max") != 0)
            continue;
        if (out->n == LIMITS_MAX)
            return tm_fail(err, TM_ERR_USAGE, NULL, -1, "more than %d limits", LIMITS_MAX);
        TM_TRY(tm_gate_parse(arguments->given[i].value, &out->all[out->n++], err));
    }
    return out->n > 0 ? TM_OK
                      : tm_fail(err, TM_ERR_USAGE, NULL, -1,
                                "tmerge gate needs a limit, such as --max step=+2%%");
}

static const char *verdict_of(const tm_table *found, size_t row) {
    return tm_table_cell(found, row, "verdict")->value.text;
}

/* Writes a limit: "at most +2 %", or "at most 2 % lower". The latter allows any increase. */
static void say_limit(double pct, char *out, size_t size) {
    if (pct > 0.0)
        snprintf(out, size, "at most %+.3g %%", pct);
    else
        snprintf(out, size, "at most %.3g %% lower, any increase", -pct);
}

/* Prints "pass step +1.40 % (at most +2 %; noise 0.40 %)" or "fail step of EXTEND +4.80 %". If the
 * mean over all steps decides: "fail step +4.80 % by the mean (...)". */
static void print_row(const tm_table *found, size_t row) {
    const tm_cell *kind = tm_table_cell(found, row, "kind");
    const tm_cell *change = tm_table_cell(found, row, "change_pct");
    const tm_cell *noise = tm_table_cell(found, row, "noise_pct");
    const tm_cell *why = tm_table_cell(found, row, "why");
    const tm_cell *over_steps = tm_table_cell(found, row, "over_steps");
    const bool mean = !over_steps->null && strncmp(over_steps->value.text, "mean", 4) == 0;
    char left[96], changed[48] = "", limit[64], noisy[48] = "", text[400];
    snprintf(left, sizeof left, "%-9s %s%s%s", verdict_of(found, row),
             tm_gate_alias(tm_table_cell(found, row, "figure")->value.text),
             kind->null ? "" : " of ", kind->null ? "" : kind->value.text);
    if (!change->null)
        snprintf(changed, sizeof changed, "%+.2f %% %s", change->value.r,
                 mean ? "by the mean " : "");
    if (!noise->null)
        snprintf(noisy, sizeof noisy, "; noise %.2f %%", noise->value.r);
    say_limit(tm_table_cell(found, row, "limit_pct")->value.r, limit, sizeof limit);
    snprintf(text, sizeof text, "%s(%s%s)%s%s", changed, limit, noisy, why->null ? "" : ": ",
             why->null ? "" : why->value.text);
    tm_console_beside(stdout, left, (int)strlen(left) + 1, text);
}

/* Prints "! before: kernels of 30 of 32 steps were not recorded ...". */
static void print_doubt(const tm_tables *side, const char *which) {
    char text[TM_DOUBT_TEXT], left[16];
    if (!tm_doubt_text(side, text))
        return;
    snprintf(left, sizeof left, "! %s:", which);
    tm_console_beside(stdout, left, (int)strlen(left) + 1, text);
}

static tm_status print_found(const tm_arguments *arguments, const tm_tables sides[2],
                             const tm_tables *found, tm_error *err) {
    bool json = tm_argument(arguments, "json");
    if (json || tm_argument(arguments, "csv"))
        return tm_diff_inputs_print(found, json, err);
    for (int side = 0; side < 2; side++)
        print_doubt(&sides[side], side == 0 ? "before" : "after");
    for (size_t i = 0; i < found->tables[0].n_rows; i++)
        print_row(&found->tables[0], i);
    return TM_OK;
}

/* Returns TM_ERR_LIMIT if at least one figure failed. Otherwise returns TM_ERR_UNSURE if at least
 * one figure could not be decided, and TM_OK if all figures passed. */
static tm_status conclude(const tm_table *found, tm_error *err) {
    size_t failed = 0, undecided = 0;
    for (size_t i = 0; i < found->n_rows; i++) {
        failed += strcmp(verdict_of(found, i), TM_GATE_FAIL) == 0;
        undecided += strcmp(verdict_of(found, i), TM_GATE_UNDECIDED) == 0;
    }
    if (failed > 0)
        return tm_fail(err, TM_ERR_LIMIT, NULL, -1, "%zu of %zu figures exceed the limit", failed,
                       found->n_rows);
    if (undecided > 0)
        return tm_fail(err, TM_ERR_UNSURE, NULL, -1, "%zu of %zu figures cannot be decided",
                       undecided, found->n_rows);
    return TM_OK;
}

static tm_status compare(const tm_arguments *arguments, const limits *l, const tm_tables sides[2],
                         tm_error *err) {
    static const tm_table_def *const defs[] = {&tm_gate_def};
    const tm_tables *both[2] = {&sides[0], &sides[1]};
    tm_tables found;
    TM_TRY(tm_tables_create(defs, 1, &found, err));
    tm_status status = tm_gate_compare(both, l->all, l->n, &found.tables[0], err);
    if (status == TM_OK && tm_console_speaks())
        status = print_found(arguments, sides, &found, err);
    if (status == TM_OK)
        status = conclude(&found.tables[0], err);
    tm_tables_destroy(&found);
    return status;
}

static tm_status gate_run(const tm_arguments *arguments, tm_error *err) {
    limits l = {.n = 0};
    tm_tables sides[2];
    if (arguments->n_operands != 2)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "tmerge gate needs two stores; see --help");
    if (tm_argument(arguments, "json") && tm_argument(arguments, "csv"))
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--json and --csv exclude each other");
    TM_TRY(parse_limits(arguments, &l, err));
    TM_TRY(tm_diff_inputs_read(arguments->operands, sides, err));
    tm_status status = compare(arguments, &l, sides, err);
    tm_diff_inputs_destroy(sides);
    return status;
}

const tm_command tm_command_gate = {
    .name = "gate",
    .usage = "BEFORE AFTER --max FIGURE=+X%... [--json | --csv]",
    .summary =
        "Checks whether a job has become slower than allowed: exit status 0 no, 6 yes, 7 unknown",
    .operands = "The steps of a run show only how much steps vary in that run; on other nodes or "
                "days, the same job may differ more.",
    TM_ARRAY(options, options),
    .run = gate_run,
};
