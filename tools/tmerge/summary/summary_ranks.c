#include "summary/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/kinds_of_steps.h"
#include "summary/summary_text.h"

/* A job with at most RANKS_SHOWN ranks has a row for each rank. In a larger job, only the ranks
 * that cost most have one. */
enum { RANKS_SHOWN = 16, CELL_MAX = 24 };

typedef enum value_kind { VALUE_RANK, VALUE_TIME, VALUE_PERCENT, VALUE_RATIO } value_kind;

/* The columns: two lines of heading, and where the values come from. */
static const struct {
    const char *heading, *below; /* below: second line of the heading; NULL: the unit of times */
    value_kind kind;
    bool of_comm;                             /* the column is about communication */
    const char *table, *column, *plus_column; /* plus_column: column whose value is added to that of
                                                 `column`; may be NULL */
} columns[] = {
    {"", "rank", VALUE_RANK, false, "overlap.rank", "rank", NULL},
    {"window", NULL, VALUE_TIME, false, "overlap.rank", "window_ns", NULL},
    {"compute", NULL, VALUE_TIME, false, "overlap.rank", "compute_ns", NULL},
    {"comm", NULL, VALUE_TIME, true, "overlap.rank", "comm_ns", NULL},
    {"overlap", "%", VALUE_PERCENT, true, "overlap.rank", "overlap_pct", NULL},
    {"exposed", NULL, VALUE_TIME, true, "overlap.rank", "exposed_comm_ns", NULL},
    {"copies", NULL, VALUE_TIME, false, "overlap.rank", "exposed_memory_ns", NULL},
    {"idle", NULL, VALUE_TIME, false, "overlap.rank", "idle_ns", NULL},
    {"comm/", "compute", VALUE_RATIO, true, "overlap.rank", "comm_to_compute", NULL},
    {"waited", NULL, VALUE_TIME, true, "stragglers.rank", "wait_ns", NULL},
    {"caused", NULL, VALUE_TIME, true, "stragglers.rank", "direct_ns", "indirect_ns"},
};

enum { N_COLUMNS = sizeof columns / sizeof *columns };

/* Returns whether a column is shown. The columns about communication are shown if there is any
 * communication. The column of copies is shown only if copies take much time; if not, the remaining
 * columns nearly add up to the window without it. */
static bool is_shown(const tm_tables *tables, int c) {
    const double much = 0.05;
    const tm_table *overlap = tm_tables_find(tables, "overlap.rank");
    if (columns[c].of_comm && sum_column(overlap, "comm_ns") == 0)
        return false;
    return strcmp(columns[c].column, "exposed_memory_ns") != 0 ||
           (double)sum_column(overlap, "exposed_memory_ns") >=
               much * (double)sum_column(overlap, "window_ns");
}

typedef struct time_unit {
    double ns;
    const char *name;
} time_unit;

/* Returns the unit for all times, which suits the largest. */
static time_unit unit_for(const tm_tables *tables, const size_t *rows, size_t n) {
    static const time_unit units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1.0, "ns"}};
    int64_t most = 0;
    const tm_table *overlap = tm_tables_find(tables, "overlap.rank");
    for (size_t i = 0; i < n; i++) {
        int64_t window = tm_table_cell(overlap, rows[i], "window_ns")->value.i;
        int64_t comm = tm_table_cell(overlap, rows[i], "comm_ns")->value.i;
        most = window > most ? window : comm > most ? comm : most;
    }
    size_t u = 0;
    while (u < 3 && (double)most < 2.0 * units[u].ns)
        u++;
    return units[u];
}

static void print_cell(const tm_tables *tables, size_t row, int c, time_unit unit,
                       char out[CELL_MAX]) {
    const tm_table *table = tm_tables_find(tables, columns[c].table);
    const tm_cell *cell = tm_table_cell(table, row, columns[c].column);
    const char *plus_column = columns[c].plus_column;
    int64_t plus = plus_column ? tm_table_cell(table, row, plus_column)->value.i : 0;
    if (cell->null)
        snprintf(out, CELL_MAX, "-");
    else if (columns[c].kind == VALUE_RANK)
        snprintf(out, CELL_MAX, "%" PRId64, cell->value.i);
    else if (columns[c].kind == VALUE_TIME)
        snprintf(out, CELL_MAX, unit.ns > 1.0 ? "%.2f" : "%.0f",
                 (double)(cell->value.i + plus) / unit.ns);
    else
        snprintf(out, CELL_MAX, columns[c].kind == VALUE_PERCENT ? "%.1f" : "%.2f", cell->value.r);
}

/* Cost of a rank: the wait that it caused, directly and indirectly. If no communication was
 * matched, the rank's exposed communication stands for it. */
typedef struct cost {
    size_t row;
    int64_t ns;
} cost;

static int by_cost(const void *a, const void *b) {
    const cost *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static bool any_wait(const tm_table *ranks) {
    for (size_t i = 0; i < ranks->n_rows; i++)
        if (!tm_table_cell(ranks, i, "wait_ns")->null)
            return true;
    return false;
}

/* Chooses the rows to show, and returns their number. If some ranks are left out, orders the chosen
 * rows by cost, largest first. */
static size_t choose_rows(const tm_tables *tables, size_t *rows, cost *costs) {
    const tm_table *ranks = tm_tables_find(tables, "stragglers.rank");
    const tm_table *overlap = tm_tables_find(tables, "overlap.rank");
    bool waits = any_wait(ranks);
    size_t n = overlap->n_rows;
    for (size_t i = 0; i < n; i++) {
        const tm_cell *cell = waits ? tm_table_cell(ranks, i, "direct_ns")
                                    : tm_table_cell(overlap, i, "exposed_comm_ns");
        int64_t plus = waits ? tm_table_cell(ranks, i, "indirect_ns")->value.i : 0;
        costs[i] = (cost){i, cell->null ? -1 : cell->value.i + plus};
    }
    if (n > RANKS_SHOWN) {
        qsort(costs, n, sizeof *costs, by_cost);
        n = TM_SUMMARY_RANKS_OF_MANY;
    }
    for (size_t i = 0; i < n; i++)
        rows[i] = costs[i].row;
    return n;
}

bool tm_summary_lacks_compute(const tm_tables *tables, size_t row) {
    const tm_table *overlap = tm_tables_find(tables, "overlap.rank");
    return tm_table_cell(overlap, row, "compute_ns")->null &&
           !tm_table_cell(overlap, row, "comm_ns")->null;
}

size_t tm_summary_count_lacking(const tm_tables *tables) {
    size_t n = 0;
    for (size_t i = 0; i < tm_tables_find(tables, "overlap.rank")->n_rows; i++)
        n += tm_summary_lacks_compute(tables, i);
    return n;
}

/* Returns whether a column is empty because only communication was recorded of all ranks. */
static bool is_unknown(const tm_tables *tables, int c) {
    const tm_table *table = tm_tables_find(tables, columns[c].table);
    const size_t n = tm_tables_find(tables, "overlap.rank")->n_rows;
    bool unknown = tm_summary_count_lacking(tables) == n;
    for (size_t i = 0; i < n && unknown; i++)
        unknown = tm_table_cell(table, i, columns[c].column)->null;
    return unknown;
}

static void print_rows(const tm_tables *tables, const size_t *rows, size_t n, time_unit unit) {
    char cell[CELL_MAX];
    int width[N_COLUMNS], shown[N_COLUMNS] = {0}, n_shown = 0;
    for (int c = 0; c < N_COLUMNS; c++)
        if (is_shown(tables, c) && !is_unknown(tables, c))
            shown[n_shown++] = c;
    for (int k = 0; k < n_shown; k++) {
        const int c = shown[k];
        const char *below = columns[c].below ? columns[c].below : unit.name;
        size_t most = strlen(columns[c].heading);
        most = strlen(below) > most ? strlen(below) : most;
        for (size_t i = 0; i < n; i++) {
            print_cell(tables, rows[i], c, unit, cell);
            most = strlen(cell) > most ? strlen(cell) : most;
        }
        width[k] = (int)most;
    }
    for (int k = 0; k < n_shown; k++)
        printf("%s%*s", k ? " " : "", width[k], columns[shown[k]].heading);
    puts("");
    for (int k = 0; k < n_shown; k++) {
        const char *below = columns[shown[k]].below;
        printf("%s%*s", k ? " " : "", width[k], below ? below : unit.name);
    }
    puts("");
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < n_shown; k++) {
            print_cell(tables, rows[i], shown[k], unit, cell);
            printf("%s%*s", k ? " " : "", width[k], cell);
        }
        puts("");
    }
}

static int64_t sum_over(const cost *costs, size_t from, size_t n, const tm_table *table,
                        const char *column) {
    int64_t sum = 0;
    for (size_t i = from; i < n; i++) {
        const tm_cell *cell = tm_table_cell(table, costs[i].row, column);
        sum += cell->null ? 0 : cell->value.i;
    }
    return sum;
}

/* Prints a line with the means over the ranks that are not shown. */
static void print_rest(const tm_tables *tables, const cost *costs, size_t shown, time_unit unit) {
    const tm_table *overlap = tm_tables_find(tables, "overlap.rank");
    size_t n = overlap->n_rows;
    double rest = (double)(n - shown) * unit.ns;
    printf("and %zu more: mean compute %.2f, comm %.2f, exposed %.2f, idle %.2f %s\n", n - shown,
           (double)sum_over(costs, shown, n, overlap, "compute_ns") / rest,
           (double)sum_over(costs, shown, n, overlap, "comm_ns") / rest,
           (double)sum_over(costs, shown, n, overlap, "exposed_comm_ns") / rest,
           (double)sum_over(costs, shown, n, overlap, "idle_ns") / rest, unit.name);
}

bool tm_summary_has_ranks(const tm_tables *tables) {
    return !tm_steps_capture(tables) &&
           sum_column(tm_tables_find(tables, "overlap.rank"), "window_ns") > 0;
}

tm_status tm_summary_ranks(const tm_tables *tables, const tm_colors *colors, tm_error *err) {
    size_t n = tm_tables_find(tables, "overlap.rank")->n_rows;
    size_t *rows = calloc(n + 1, sizeof *rows);
    cost *costs = calloc(n + 1, sizeof *costs);
    if (!rows || !costs) {
        free(rows);
        free(costs);
        return tm_fail_memory(err);
    }
    size_t shown = choose_rows(tables, rows, costs);
    time_unit unit = unit_for(tables, rows, shown);
    if (shown < n)
        printf("%sThe %zu ranks that cost most%s\n", colors->strong, shown, colors->off);
    print_rows(tables, rows, shown, unit);
    if (shown < n)
        print_rest(tables, costs, shown, unit);
    free(rows);
    free(costs);
    return TM_OK;
}
