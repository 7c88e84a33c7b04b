#include "over_ranks.h"

#include <stdlib.h>

#include "base/median.h"
#include "base/sums.h"

/* Keys must be integers, because merged tables have no texts. */
static bool same_key(const tm_table *part, size_t a, size_t b) {
    const tm_cell *x = tm_table_row(part, a), *y = tm_table_row(part, b);
    for (int c = 0; c < part->def->n_merged; c++)
        if (x[c].null != y[c].null || (!x[c].null && x[c].value.i != y[c].value.i))
            return false;
    return true;
}

tm_rank_rows tm_rank_rows_at(const tm_table *part, size_t first) {
    size_t end = first + 1;
    while (end < part->n_rows && same_key(part, first, end))
        end++;
    return (tm_rank_rows){part, first, end};
}

const tm_cell *tm_rank_rows_key(const tm_rank_rows *rows) {
    return tm_table_row(rows->part, rows->first);
}

int64_t tm_over_ranks_sum(const tm_rank_rows *rows, int column) {
    int64_t sum = 0;
    for (size_t r = rows->first; r < rows->end; r++) {
        const tm_cell *cell = &tm_table_row(rows->part, r)[column];
        sum = tm_sum(sum, cell->null ? 0 : cell->value.i);
    }
    return sum;
}

double tm_over_ranks_real_sum(const tm_rank_rows *rows, int column) {
    double sum = 0.0;
    for (size_t r = rows->first; r < rows->end; r++)
        sum += (double)tm_table_row(rows->part, r)[column].value.i;
    return sum;
}

tm_status tm_over_ranks_column(const tm_rank_rows *rows, int column, tm_over_ranks *out,
                               tm_error *err) {
    tm_over_ranks found = {0};
    int64_t *values = malloc((rows->end - rows->first + 1) * sizeof *values);
    size_t n = 0;
    if (!values)
        return tm_fail_memory(err);
    for (size_t r = rows->first; r < rows->end; r++) {
        const tm_cell *row = tm_table_row(rows->part, r);
        if (row[column].null)
            continue;
        int64_t value = row[column].value.i;
        /* Rows are sorted by rank. If several ranks have the maximum, the lowest rank stays. */
        if (n == 0 || value > found.max) {
            found.max = value;
            found.max_rank = row[rows->part->def->n_merged].value.i;
        }
        found.sum = tm_sum(found.sum, value);
        values[n++] = value;
    }
    tm_sort_values(values, n);
    if (n > 0) {
        found.min = values[0];
        found.median = tm_median(values, n);
    }
    found.ranks = (int64_t)n;
    free(values);
    *out = found;
    return TM_OK;
}

void tm_over_ranks_set(tm_cell *cells, const tm_over_ranks *of) {
    tm_cell_set_int(&cells[0], of->ranks);
    tm_cell_set_int(&cells[1], of->median);
    tm_cell_set_int(&cells[2], of->max);
    tm_cell_set_int(&cells[3], of->max_rank);
}

tm_status tm_over_ranks_merge(const tm_table_def *part, const tm_table_def *shown,
                              const tm_names *names, tm_tables *tables, tm_merge_row *set,
                              tm_error *err) {
    const tm_table *from = tm_tables_find(tables, part->name);
    tm_table *to = tm_tables_find(tables, shown->name);
    for (tm_rank_rows rows = {from, 0, 0}; rows.end < from->n_rows;) {
        rows = tm_rank_rows_at(from, rows.end);
        tm_cell *row = tm_table_add_row(to);
        if (!row)
            return tm_fail_memory(err);
        TM_TRY(set(names, &rows, to, row, err));
    }
    return TM_OK;
}
