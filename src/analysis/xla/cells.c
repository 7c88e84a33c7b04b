#include "cells.h"

#include <stdlib.h>
#include <string.h>

#include "base/median.h"
#include "base/sorted.h"

/* Reasons why a device may be slow. Each has a column with its time. Other parts of a step do not
 * count, because other devices may make them slow. */
enum { COMPUTE, INPUT, LAUNCH, COPIES, N_REASONS };
static const char *const reason_words[N_REASONS] = {"compute", "input", "launch", "copies"};
static const char *const columns[N_REASONS][5] = {
    [COMPUTE] = {"compute_16_ns", "compute_32_ns", "compute_untyped_ns"},
    [INPUT] = {"input_ns"},
    [LAUNCH] = {"launch_ns", "compilation_ns", "host_ns"},
    [COPIES] = {"output_ns", "device_to_device_ns", "offload_ns"},
};

enum { ROWS_MAX = 20000, LEAST_PCT = 5, LEAST_CELLS = 2 };

typedef struct cell {
    int64_t step, step_ns, ns[N_REASONS];
    size_t row, group; /* `group`: first row of pod.rank with the same program */
} cell;

/* Returns whether a device is compared in a step: it computes in the step, and its rank marks
 * steps. */
static bool is_compared(const tm_table *unmarked, int64_t rank, const cell *c) {
    return c->ns[COMPUTE] > 0 && tm_table_find_row(unmarked, &rank, 1) == unmarked->n_rows;
}

static bool same_program(const tm_table *ranks, size_t a, size_t b) {
    const tm_cell *x = tm_table_cell(ranks, a, "program"), *y = tm_table_cell(ranks, b, "program");
    return x->null == y->null && (x->null || strcmp(x->value.text, y->value.text) == 0);
}

/* Returns the first row of pod.rank with the program of a rank. Stages of a pipeline run different
 * programs. */
static size_t group_of(const tm_table *ranks, int64_t rank) {
    size_t row = tm_table_find_row(ranks, &rank, 1), first = 0;
    while (row < ranks->n_rows && first < row && !same_program(ranks, first, row))
        first++;
    return first;
}

TM_ORDER_BY(by_step, cell, step, group, row);

static cell *read_cells(const tm_tables *tables, const tm_table *steps, size_t *n) {
    const tm_table *unmarked = tm_tables_find(tables, "overlap.unmarked");
    const tm_table *ranks = tm_tables_find(tables, TM_POD_RANK);
    cell *cells = calloc(steps->n_rows + 1, sizeof *cells);
    int64_t last = -1;
    size_t group = 0;
    *n = 0;
    for (size_t i = 0; cells && i < steps->n_rows; i++) {
        int64_t rank = tm_table_cell(steps, i, "rank")->value.i;
        group = rank == last ? group : group_of(ranks, rank);
        last = rank;
        cell one = {.row = i,
                    .group = group,
                    .step = tm_table_cell(steps, i, "step")->value.i,
                    .step_ns = tm_table_cell(steps, i, "step_ns")->value.i};
        for (int r = 0; r < N_REASONS; r++)
            for (int c = 0; c < 5 && columns[r][c]; c++)
                one.ns[r] += tm_table_cell(steps, i, columns[r][c])->value.i;
        if (is_compared(unmarked, rank, &one))
            cells[(*n)++] = one;
    }
    if (*n > 1)
        qsort(cells, *n, sizeof *cells, by_step);
    return cells;
}

/* Returns the lower median, because half of the cells may be slow, such as all cells of one of two
 * hosts. */
static int64_t usual(const cell *cells, size_t n, int reason, int64_t *values) {
    for (size_t i = 0; i < n; i++)
        values[i] = cells[i].ns[reason];
    tm_sort_values(values, n);
    return values[(n - 1) / 2];
}

static tm_status judge_cell(tm_table *steps, const cell *c, const int64_t *usuals, tm_error *err) {
    int slow = 0;
    for (int r = 1; r < N_REASONS; r++)
        if (c->ns[r] - usuals[r] > c->ns[slow] - usuals[slow])
            slow = r;
    int64_t over = c->ns[slow] - usuals[slow];
    tm_cell *row = tm_table_row(steps, c->row);
    if (over < c->step_ns / 100 * LEAST_PCT || over <= 0)
        return TM_OK;
    tm_cell_set_int(&row[tm_table_column(steps->def, "over_ns")], over);
    return tm_table_set_text(steps, &row[tm_table_column(steps->def, "slow")], reason_words[slow],
                             err);
}

static tm_status judge_step(tm_table *steps, const cell *cells, size_t n, int64_t *values,
                            tm_error *err) {
    int64_t usuals[N_REASONS];
    for (int r = 0; r < N_REASONS; r++)
        usuals[r] = usual(cells, n, r, values);
    for (size_t i = 0; i < n && n >= LEAST_CELLS; i++)
        TM_TRY(judge_cell(steps, &cells[i], usuals, err));
    return TM_OK;
}

static tm_status judge_steps(tm_table *steps, const cell *cells, size_t n, int64_t *values,
                             tm_error *err) {
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && cells[end].step == cells[first].step &&
                              cells[end].group == cells[first].group;)
            end++;
        TM_TRY(judge_step(steps, cells + first, end - first, values, err));
    }
    return TM_OK;
}

/* Sets the most frequent reason among the rank's slow steps, which are in rows [first, end). */
static tm_status judge_rank(tm_table *ranks, size_t rank, const tm_table *steps, size_t first,
                            size_t end, tm_error *err) {
    int64_t n[N_REASONS] = {0}, over[N_REASONS] = {0};
    int best = 0;
    for (size_t i = first; i < end; i++) {
        const tm_cell *slow = tm_table_cell(steps, i, "slow");
        for (int r = 0; r < N_REASONS && !slow->null; r++)
            if (strcmp(slow->value.text, reason_words[r]) == 0) {
                n[r]++;
                over[r] += tm_table_cell(steps, i, "over_ns")->value.i;
            }
    }
    for (int r = 1; r < N_REASONS; r++)
        best = n[r] > n[best] ? r : best;
    tm_cell *row = tm_table_row(ranks, rank);
    tm_cell_set_int(&row[tm_table_column(ranks->def, "slow_steps")], n[best]);
    tm_cell_set_int(&row[tm_table_column(ranks->def, "over_ns")], over[best]);
    return 2 * n[best] < (int64_t)(end - first) || n[best] == 0
               ? TM_OK
               : tm_table_set_text(ranks, &row[tm_table_column(ranks->def, "slow")],
                                   reason_words[best], err);
}

static tm_status judge_ranks(tm_table *ranks, const tm_table *steps, tm_error *err) {
    size_t first = 0;
    for (size_t i = 0; i < ranks->n_rows; i++) {
        size_t end = first;
        while (end < steps->n_rows && tm_table_cell(steps, end, "rank")->value.i ==
                                          tm_table_cell(ranks, i, "rank")->value.i)
            end++;
        TM_TRY(judge_rank(ranks, i, steps, first, end, err));
        first = end;
    }
    return TM_OK;
}

static bool is_slow(const tm_table *table, const tm_cell *row, void *context) {
    (void)context;
    return !row[tm_table_column(table->def, "slow")].null;
}

tm_status tm_cells_judge(tm_tables *tables, tm_error *err) {
    tm_table *ranks = tm_tables_find(tables, TM_POD_RANK);
    tm_table *steps = tm_tables_find(tables, TM_POD_STEP);
    size_t n;
    if (steps->n_rows == 0)
        return TM_OK;
    cell *cells = read_cells(tables, steps, &n);
    int64_t *values = malloc((steps->n_rows + 1) * sizeof *values);
    tm_status status =
        cells && values ? judge_steps(steps, cells, n, values, err) : tm_fail_memory(err);
    free(cells);
    free(values);
    if (status == TM_OK)
        status = judge_ranks(ranks, steps, err);
    if (status != TM_OK || steps->n_rows <= ROWS_MAX)
        return status;
    tm_table_filter(steps, is_slow, NULL);
    if (steps->n_rows > ROWS_MAX)
        tm_table_top(steps, ROWS_MAX);
    tm_table_sort(steps);
    return TM_OK;
}
