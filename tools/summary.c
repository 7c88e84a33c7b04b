#include "summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RANKS_SHOWN = 16, RANKS_OF_MANY = 8, MISSING_SHOWN = 8 };

/* What the first screen shows of a rank: the heading, and the table and column that it is from. */
static const struct {
    const char *table, *column;
} sources[] = {
    {"overlap.rank", "rank"},        {"overlap.rank", "window_ns"},
    {"overlap.rank", "compute_ns"},  {"overlap.rank", "comm_ns"},
    {"overlap.rank", "overlap_pct"}, {"overlap.rank", "exposed_comm_ns"},
    {"overlap.rank", "idle_ns"},     {"ratio.rank", "comm_to_compute"},
};

static const tm_column columns[] = {
    {"rank", TM_INT, "", ""},          {"window_ns", TM_INT, "ns", ""},
    {"compute_ns", TM_INT, "ns", ""},  {"comm_ns", TM_INT, "ns", ""},
    {"overlap_pct", TM_REAL, "%", ""}, {"exposed_ns", TM_INT, "ns", ""},
    {"idle_ns", TM_INT, "ns", ""},     {"comm/comp", TM_REAL, "", ""},
};

enum { N_COLUMNS = sizeof columns / sizeof *columns, COST = 5 };

_Static_assert(sizeof sources / sizeof *sources == N_COLUMNS, "each column has its source");

static const tm_table_def summary_def = {
    .name = "summary.rank",
    .doc = "",
    .columns = columns,
    .n_columns = N_COLUMNS,
    .n_keys = 1,
    .top = COST,
};

static const tm_cell *cell(const tm_table *table, size_t row, const char *column) {
    return &tm_table_row(table, row)[tm_table_column(table->def, column)];
}

static int64_t number(const tm_table *table, size_t row, const char *column) {
    const tm_cell *c = cell(table, row, column);
    return c->null ? 0 : c->value.i;
}

/* One row for each rank; the tables that it comes from have one each, in the same order. */
static tm_status fill(const tm_tables *tables, tm_table *out, tm_error *err) {
    size_t n = tm_tables_find(tables, "overlap.rank")->n_rows;
    for (size_t i = 0; i < n; i++) {
        tm_cell *row = tm_table_add_row(out);
        if (!row)
            return tm_fail_memory(err);
        for (int c = 0; c < N_COLUMNS; c++)
            row[c] = *cell(tm_tables_find(tables, sources[c].table), i, sources[c].column);
    }
    return TM_OK;
}

static void print_time(int64_t ns) {
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm utc;
    char text[32];
    /* A time near 1970 is no time of day: hand-made traces begin at 0. */
    if (seconds > 86400 * 366 && gmtime_r(&seconds, &utc) &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &utc) > 0)
        printf(", from %s UTC", text);
}

static void print_duration(int64_t ns) {
    static const struct {
        int64_t ns;
        const char *unit;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    size_t u = 0;
    while (u < 3 && ns < units[u].ns)
        u++;
    printf("%.4g %s", (double)ns / (double)units[u].ns, units[u].unit);
}

static void print_heading(const tm_table *job, const tm_colors *colors) {
    int64_t ranks = number(job, 0, "ranks"), hosts = number(job, 0, "hosts");
    int64_t steps = number(job, 0, "steps"), events = number(job, 0, "events");
    printf("%s%" PRId64 " rank%s on %" PRId64 " host%s, %" PRId64 " step%s, %" PRId64 " events%s\n",
           colors->strong, ranks, ranks == 1 ? "" : "s", hosts, hosts == 1 ? "" : "s", steps,
           steps == 1 ? "" : "s", events, colors->off);
    if (cell(job, 0, "begin_ns")->null)
        return;
    print_duration(number(job, 0, "duration_ns"));
    print_time(number(job, 0, "begin_ns"));
    puts("");
}

static void print_missing(const tm_loaded *loaded, const tm_colors *colors) {
    if (loaded->world_size <= (int64_t)loaded->n_ranks)
        return;
    int64_t missing = loaded->world_size - (int64_t)loaded->n_ranks, shown = 0;
    printf("%smissing%s: %" PRId64 " of %" PRId64 " ranks have no trace here:", colors->warning,
           colors->off, missing, loaded->world_size);
    size_t next = 0;
    for (int64_t rank = 0; rank < loaded->world_size && shown < MISSING_SHOWN; rank++) {
        if (next < loaded->n_ranks && loaded->ranks[next] == rank) {
            next++;
            continue;
        }
        printf("%s %" PRId64, shown++ ? "," : "", rank);
    }
    puts(missing > shown ? ", ..." : "");
}

static void print_left_out(const tm_tables *tables, const tm_colors *colors) {
    const tm_table *left = tm_tables_find(tables, "job.left_out");
    const tm_table *ranks = tm_tables_find(tables, "job.rank");
    int64_t skipped = 0;
    for (size_t i = 0; i < ranks->n_rows; i++)
        skipped += number(ranks, i, "skipped_events");
    if (skipped > 0)
        printf("%sskipped%s: %" PRId64 " events; tmerge show job.rank says of which rank\n",
               colors->warning, colors->off, skipped);
    if (left->n_rows > 0)
        printf("%sleft out%s: %zu file%s; tmerge show job.left_out says which and why\n",
               colors->warning, colors->off, left->n_rows, left->n_rows == 1 ? "" : "s");
}

/* Over 16 ranks: the 8 with the most exposed communication, and a line for the rest. */
static tm_status print_ranks(tm_table *rows, const tm_colors *colors, tm_error *err) {
    size_t n = rows->n_rows;
    char *text;
    if (n > RANKS_SHOWN) {
        tm_table_top(rows, RANKS_OF_MANY);
        printf("\n%sThe %d ranks with the most exposed communication%s\n", colors->strong,
               RANKS_OF_MANY, colors->off);
    } else {
        puts("");
    }
    TM_TRY(tm_table_text(rows, tm_console_width(), &text, err));
    fputs(text, stdout);
    free(text);
    if (n > RANKS_SHOWN)
        printf("and %zu more: tmerge show overlap.rank\n", n - RANKS_OF_MANY);
    return TM_OK;
}

tm_status tm_summary_print(const tm_tables *tables, const tm_loaded *loaded, const char *store,
                           const tm_colors *colors, tm_error *err) {
    const tm_table_def *defs[] = {&summary_def};
    tm_tables own;
    TM_TRY(tm_tables_create(defs, 1, &own, err));
    tm_status status = fill(tables, &own.tables[0], err);
    if (status == TM_OK) {
        print_heading(tm_tables_find(tables, "job.job"), colors);
        print_missing(loaded, colors);
        print_left_out(tables, colors);
        status = print_ranks(&own.tables[0], colors, err);
        printf("\nStored in %s; tmerge show %s prints every table.\n", store, store);
    }
    tm_tables_destroy(&own);
    return status;
}
