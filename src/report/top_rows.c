#include "report/top_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "report/page_path.h"
#include "report/table_totals.h"
#include "table/levels.h"

enum {
    SMALL_ROWS = 512,       /* tables with no more rows than this are kept whole */
    RANK_ROWS_MAX = 1 << 15 /* maximum number of rows of a table that has a row for each rank and
                               another key */
};

/* Number of arrivals kept for each operation: all if there are at most 16, else the first 4, the
 * last 8 and the one whose kernel ends last. */
enum { ARRIVALS_WHOLE = 16, ARRIVALS_FIRST = 4, ARRIVALS_LAST = 8 };

/* The rows of a table. kept[i] is true if row i stays. */
typedef struct rows {
    const tm_table *table;
    bool *kept; /* [n_rows] */
    size_t n;   /* number kept */
} rows;

static bool is_table(const tm_table *table, const char *name) {
    return strcmp(table->def->name, name) == 0;
}

/* Returns the index of the column with this name if it is a key column, else -1. Only key columns
 * decide which ranks and steps stay. */
static int key_of(const tm_table_def *def, const char *column) {
    int at = tm_table_column(def, column);
    return at < def->n_keys ? at : -1;
}

static void drop_others(rows *r, const tm_page_kept *kept, int column, bool cells) {
    for (size_t row = 0; row < r->table->n_rows; row++) {
        const tm_cell *cell = tm_table_row(r->table, row) + column;
        bool stays = cell->null || (cells ? tm_page_keeps_cell(kept, cell->value.i)
                                          : tm_page_keeps(kept, cell->value.i));
        if (r->kept[row] && !stays) {
            r->kept[row] = false;
            r->n--;
        }
    }
}

typedef struct placed {
    double measure;
    size_t row;
} placed;

TM_ORDER_FALLING(by_measure, placed, measure, row);

static double measure_of(const tm_table *table, size_t row, int column) {
    const tm_cell *cell = tm_table_row(table, row) + column;
    bool real = table->def->columns[column].type == TM_REAL;
    return cell->null ? -1e300 : real ? cell->value.r : (double)cell->value.i;
}

/* Returns the column that decides which rows stay: rows with large values do. In a table that is a
 * tree, this column is the total time of a node and its children. A parent has at least the time of
 * its children, so the parents of a kept node stay, too. */
static int measured_by(const tm_table_def *def) {
    int total = tm_table_column(def, "host_total_ns");
    return tm_table_column(def, "parent") >= 0 && total >= 0 ? total : def->top;
}

static bool begins_level(const tm_table *table, size_t row) {
    return row == 0 || !tm_table_has_levels(table->def) ||
           !tm_row_has_level(tm_table_row(table, row), tm_table_row(table, row - 1)->value.text);
}

/* Keeps the rows with the largest values in the column that measured_by returns. If there is no
 * such column, keeps the first rows. If the table has levels, keeps equally many rows of each
 * level. */
static bool keep_top(rows *r, size_t most) {
    int top = measured_by(r->table->def);
    const bool levels = tm_table_has_levels(r->table->def) && top == r->table->def->top;
    placed *order = malloc((r->n + 1) * sizeof *order);
    if (!order)
        return false;
    size_t n = 0, first = 0; /* first: first row of the level */
    for (size_t row = 0; row < r->table->n_rows; row++) {
        first = begins_level(r->table, row) ? row : first;
        if (r->kept[row])
            order[n++] = (placed){top < 0  ? 0.0
                                  : levels ? -(double)(row - first)
                                           : measure_of(r->table, row, top),
                                  row};
    }
    qsort(order, n, sizeof *order, by_measure);
    for (size_t i = most; i < n; i++)
        r->kept[order[i].row] = false;
    r->n = n < most ? n : most;
    free(order);
    return true;
}

static void keep(rows *r, size_t row) {
    r->n += !r->kept[row];
    r->kept[row] = true;
}

/* Keeps the arrivals of one operation, which are rows [first, end). */
static bool keep_arrivals_of(rows *r, size_t first, size_t end) {
    int begins = tm_table_column(r->table->def, "begin_ns");
    int ends = tm_table_column(r->table->def, "end_ns");
    placed *order = malloc((end - first + 1) * sizeof *order);
    size_t last = first, n = end - first;
    if (!order)
        return false;
    for (size_t row = first; row < end; row++) {
        order[row - first] = (placed){-measure_of(r->table, row, begins), row};
        last = measure_of(r->table, row, ends) > measure_of(r->table, last, ends) ? row : last;
    }
    qsort(order, n, sizeof *order, by_measure);
    for (size_t i = 0; i < n; i++)
        if (n <= ARRIVALS_WHOLE || i < ARRIVALS_FIRST || i + ARRIVALS_LAST >= n)
            keep(r, order[i].row);
    keep(r, last);
    free(order);
    return true;
}

static bool keep_arrivals(rows *r) {
    int instance = tm_table_column(r->table->def, "instance");
    size_t n = r->table->n_rows;
    memset(r->kept, 0, n * sizeof *r->kept);
    r->n = 0;
    for (size_t first = 0, end = 0; first < n; first = end) {
        int64_t number = tm_table_row(r->table, first)[instance].value.i;
        while (end < n && tm_table_row(r->table, end)[instance].value.i == number)
            end++;
        if (!keep_arrivals_of(r, first, end))
            return false;
    }
    return true;
}

static bool choose_rows(rows *r, const tm_page_selection *selection) {
    const tm_table_def *def = r->table->def;
    int rank = key_of(def, "rank"), step = key_of(def, "step");
    if (r->n <= SMALL_ROWS)
        return true;
    if (is_table(r->table, "collectives.arrival"))
        return r->n <= TM_PAGE_ROWS || keep_arrivals(r);
    bool cells = rank >= 0 && step >= 0;
    if (rank >= 0)
        drop_others(r, &selection->ranks, rank, cells);
    if (step >= 0)
        drop_others(r, &selection->steps, step, cells);
    size_t most = rank >= 0 ? RANK_ROWS_MAX : TM_PAGE_ROWS;
    return r->n <= most || keep_top(r, most);
}

static bool is_kept(const tm_table *table, const tm_cell *row, void *context) {
    const rows *r = context;
    return r->kept[(size_t)(row - table->cells) / (size_t)table->def->n_columns];
}

static bool is_none(const tm_table *table, const tm_cell *row, void *context) {
    (void)table, (void)row, (void)context;
    return false;
}

/* Keeps whole steps of the critical path. Keeps nothing if no step fits. */
static tm_status keep_path(tm_table *table, size_t most, size_t *left_out, tm_error *err) {
    size_t before = table->n_rows;
    TM_TRY(tm_report_limit_path(table, most < TM_REPORT_PIECES_MAX ? most : TM_REPORT_PIECES_MAX,
                                left_out, err));
    if (table->n_rows > most)
        tm_table_filter(table, is_none, NULL);
    *left_out = before - table->n_rows;
    return TM_OK;
}

tm_status tm_top_rows_put(tm_table *table, const tm_page_selection *selection, size_t most,
                          tm_out *all, size_t *left_out, tm_error *err) {
    if (is_table(table, "criticalpath.piece"))
        return keep_path(table, most, left_out, err);
    rows r = {table, malloc(table->n_rows + 1), table->n_rows};
    size_t before = table->n_rows;
    if (!r.kept)
        return tm_fail_memory(err);
    memset(r.kept, true, before);
    bool chosen = choose_rows(&r, selection);
    if (chosen && r.n > most && is_table(table, "criticalpath.slack")) {
        /* A row has the slack of the events up to the next row. If a row were removed, the row
         * before it would give its events a wrong slack. So all rows are removed. */
        memset(r.kept, false, before);
        r.n = 0;
    } else if (chosen && r.n > most)
        chosen = keep_top(&r, most);
    tm_status status = chosen ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK && r.n < before)
        status = tm_table_totals_put(table, all, err);
    if (status == TM_OK && r.n < before)
        tm_table_filter(table, is_kept, &r);
    free(r.kept);
    if (status == TM_OK)
        *left_out = before - table->n_rows;
    return status;
}
