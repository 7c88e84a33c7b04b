#include "report/table_totals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/median.h"
#include "base/sums.h"
#include "report/page_json.h"
#include "table/digits.h"

/* Text columns with few distinct values. The page shows sums for each of their values. */
static const char *const kinds[] = {"kind", "host_memory", "reason", "method", "what"};

enum { KINDS_MAX = sizeof kinds / sizeof *kinds, GROUPS_MAX = 64 };

static void put_real(tm_out *out, double value) {
    char digits[TM_DIGITS_MAX];
    tm_digits_real(value, digits);
    tm_out_string(out, digits);
}

static void put_int(tm_out *out, int64_t value) {
    char digits[TM_DIGITS_MAX];
    tm_digits_int(value, digits);
    tm_out_string(out, digits);
}

static double real_of(const tm_column *column, const tm_cell *cell) {
    return column->type == TM_REAL ? cell->value.r : (double)cell->value.i;
}

/* Writes the totals of a column: [number of values, sum, minimum, median, maximum, number of
 * distinct values]. For a boolean column, writes only the number of values and the sum. */
static void put_column(const tm_table *table, int c, double *values, tm_out *out) {
    const tm_column *column = &table->def->columns[c];
    size_t n = 0, different = 0;
    int64_t sum = 0;
    for (size_t row = 0; row < table->n_rows; row++) {
        const tm_cell *cell = tm_table_row(table, row) + c;
        if (cell->null)
            continue;
        sum = column->type == TM_REAL ? 0 : tm_sum(sum, cell->value.i);
        values[n++] = real_of(column, cell);
    }
    tm_out_char(out, '[');
    put_int(out, (int64_t)n);
    tm_out_char(out, ',');
    put_int(out, sum);
    if (column->type != TM_BOOL && n > 0) {
        tm_sort_reals(values, n);
        for (size_t i = 0; i < n; i++)
            different += i == 0 || values[i - 1] < values[i];
        const double reported[] = {values[0], (values[(n - 1) / 2] + values[n / 2]) / 2.0,
                                   values[n - 1]};
        for (size_t i = 0; i < sizeof reported / sizeof *reported; i++) {
            tm_out_char(out, ',');
            put_real(out, reported[i]);
        }
        tm_out_char(out, ',');
        put_int(out, (int64_t)different);
    }
    tm_out_char(out, ']');
}

static tm_status put_columns(const tm_table *table, tm_out *out, tm_error *err) {
    double *values = malloc((table->n_rows + 1) * sizeof *values);
    if (!values)
        return tm_fail_memory(err);
    for (int c = 0; c < table->def->n_columns; c++) {
        const tm_column *column = &table->def->columns[c];
        tm_out_char(out, c == 0 ? '[' : ',');
        if (column->type == TM_TEXT || tm_column_is_epoch(column))
            tm_out_string(out, "null");
        else
            put_column(table, c, values, out);
    }
    tm_out_char(out, ']');
    free(values);
    return TM_OK;
}

/* Rows with equal values in the columns that have few distinct values. */
typedef struct group {
    const tm_cell *first; /* one of the group's rows */
    size_t n;
    int64_t *sums;  /* owned; [columns] */
    int64_t *known; /* [columns] number of values in each column; part of the allocation of
                       `sums` */
} group;

typedef struct groups {
    const tm_table *table;
    int columns[KINDS_MAX];
    int n_columns;
    group list[GROUPS_MAX];
    size_t n;
} groups;

static bool same_text(const tm_cell *a, const tm_cell *b) {
    if (a->null || b->null)
        return a->null == b->null;
    return strcmp(a->value.text, b->value.text) == 0;
}

static bool same_kind(const groups *g, const tm_cell *a, const tm_cell *b) {
    for (int i = 0; i < g->n_columns; i++)
        if (!same_text(&a[g->columns[i]], &b[g->columns[i]]))
            return false;
    return true;
}

/* Returns the group of a row; NULL if there are too many groups, or when out of memory. */
static group *group_of(groups *g, const tm_cell *row) {
    for (size_t i = 0; i < g->n; i++)
        if (same_kind(g, g->list[i].first, row))
            return &g->list[i];
    int64_t *sums =
        g->n < GROUPS_MAX ? calloc((size_t)g->table->def->n_columns, 2 * sizeof *sums) : NULL;
    if (!sums)
        return NULL;
    g->list[g->n] = (group){row, 0, sums, sums + g->table->def->n_columns};
    return &g->list[g->n++];
}

/* Sums rows by group. Returns false if there are too many groups to be useful, or when out of
 * memory. */
static bool sum_groups(groups *g) {
    const tm_table_def *def = g->table->def;
    for (size_t row = 0; row < g->table->n_rows; row++) {
        const tm_cell *cells = tm_table_row(g->table, row);
        group *into = group_of(g, cells);
        if (!into)
            return false;
        into->n++;
        for (int c = 0; c < def->n_columns; c++)
            if (def->columns[c].type == TM_INT && !cells[c].null) {
                into->sums[c] = tm_sum(into->sums[c], cells[c].value.i);
                into->known[c]++;
            }
    }
    return true;
}

static void put_group(const groups *g, const group *each, tm_out *out) {
    tm_out_char(out, '[');
    for (int i = 0; i < g->n_columns; i++) {
        const tm_cell *cell = &each->first[g->columns[i]];
        if (cell->null)
            tm_out_string(out, "null");
        else
            tm_report_json_string(out, cell->value.text, strlen(cell->value.text));
        tm_out_char(out, ',');
    }
    put_int(out, (int64_t)each->n);
    for (int c = 0; c < g->table->def->n_columns; c++) {
        tm_out_string(out, c == 0 ? ",[" : ",");
        if (each->known[c] > 0)
            put_int(out, each->sums[c]);
        else
            tm_out_string(out, "null");
    }
    tm_out_string(out, "]]");
}

static void put_groups(const tm_table *table, tm_out *out) {
    groups g = {.table = table};
    for (size_t i = 0; i < KINDS_MAX; i++) {
        const char *kind_column = kinds[i];
        int column = tm_table_column(table->def, kind_column);
        if (column >= 0 && table->def->columns[column].type == TM_TEXT)
            g.columns[g.n_columns++] = column;
    }
    if (g.n_columns > 0 && sum_groups(&g)) {
        tm_out_string(out, ",\"by\":[");
        for (int i = 0; i < g.n_columns; i++) {
            const char *name = table->def->columns[g.columns[i]].name;
            tm_out_string(out, i == 0 ? "" : ",");
            tm_report_json_string(out, name, strlen(name));
        }
        tm_out_string(out, "],\"groups\":[");
        for (size_t i = 0; i < g.n; i++) {
            tm_out_string(out, i == 0 ? "" : ",");
            put_group(&g, &g.list[i], out);
        }
        tm_out_char(out, ']');
    }
    for (size_t i = 0; i < g.n; i++)
        free(g.list[i].sums);
}

tm_status tm_table_totals_put(const tm_table *table, tm_out *out, tm_error *err) {
    tm_out_string(out, "{\"n\":");
    put_int(out, (int64_t)table->n_rows);
    tm_out_string(out, ",\"columns\":");
    TM_TRY(put_columns(table, out, err));
    put_groups(table, out);
    tm_out_char(out, '}');
    return out->failed ? tm_fail_memory(err) : TM_OK;
}
