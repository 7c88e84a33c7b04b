/* Lines about the traces: ranks without a trace, formats, and files that were left out. */
#include "summary/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "readers/converter.h"
#include "summary/summary_text.h"

/* Writes the ranks below @p world that have no trace: " 2, 3, 5, ...". */
static void list_missing(const tm_loaded *loaded, int64_t world, char *out, size_t size) {
    const int64_t missing = world - (int64_t)loaded->n_ranks;
    int64_t shown = 0;
    size_t next = 0, used = 0;
    for (int64_t rank = 0; rank < world && shown < LIST_SHOWN; rank++) {
        if (next < loaded->n_ranks && loaded->ranks[next] == rank) {
            next++;
            continue;
        }
        used += (size_t)snprintf(out + used, size - used, "%s %" PRId64, shown++ ? "," : "", rank);
    }
    snprintf(out + used, size - used, "%s", missing > shown ? ", ..." : "");
}

/* Warns of missing ranks. If no trace states the world size, it is taken as the highest rank + 1.
 */
void tm_summary_missing(const tm_loaded *loaded, const tm_tables *tables, const tm_colors *colors) {
    int64_t n = (int64_t)loaded->n_ranks, least = n > 0 ? loaded->ranks[n - 1] + 1 : 0;
    bool reported = loaded->world_size >= least;
    int64_t world = reported ? loaded->world_size : least;
    bool waits = sum_column(tm_tables_find(tables, "stragglers.rank"), "wait_ns") > 0;
    char ranks[LIST_SHOWN * 24 + 8], text[sizeof ranks + 160];
    if (world <= n)
        return;
    list_missing(loaded, world, ranks, sizeof ranks);
    snprintf(text, sizeof text, "%" PRId64 " of %s%" PRId64 " ranks %s no trace here%s:%s",
             world - n, reported ? "" : "at least ", world, world - n == 1 ? "has" : "have",
             waits ? ", so waits are lower bounds" : "", ranks);
    fputs(colors->warning, stdout);
    tm_console_beside(stdout, "!", 2, text);
    fputs(colors->off, stdout);
}

/* Finds the next row, from @p row on, whose format no earlier row has. Counts the ranks with this
 * format. Returns the index of the row after the found one; 0 if there is none. */
static size_t next_format(const tm_table *ranks, size_t row, const char **format, int64_t *n) {
    for (; row < ranks->n_rows; row++) {
        bool first = true;
        *format = tm_table_cell(ranks, row, "format")->value.text;
        *n = 0;
        for (size_t i = 0; i < ranks->n_rows && first; i++)
            if (strcmp(tm_table_cell(ranks, i, "format")->value.text, *format) == 0) {
                first = i >= row;
                ++*n;
            }
        if (first)
            return row + 1;
    }
    return 0;
}

/* Warns if the traces have several formats, because each format names process groups in its own
 * way. */
void tm_summary_formats(const tm_table *ranks, const tm_table *formats, const tm_colors *colors) {
    const char *format;
    int64_t n;
    size_t row = next_format(ranks, 0, &format, &n);
    if (row == 0 || n == (int64_t)ranks->n_rows)
        return;
    printf("%s! traces of several formats:", colors->warning);
    for (const char *before = " "; row > 0; row = next_format(ranks, row, &format, &n)) {
        printf("%s%s of %" PRId64 " rank%s", before, format, n, n == 1 ? "" : "s");
        before = ", ";
    }
    printf("; each format names process\n  groups in its own way: collectives across formats are "
           "matched only if exactly one\n  group fits%s\n",
           colors->off);
    for (size_t i = 0; i < formats->n_rows; i++) {
        const tm_cell *lacks = tm_table_cell(formats, i, "cannot_tell");
        char text[1024];
        if (lacks->null)
            continue;
        snprintf(text, sizeof text, "%s: %.900s", tm_table_cell(formats, i, "format")->value.text,
                 lacks->value.text);
        tm_console_wrap(text, 0, tm_console_width());
    }
}

/* Prints, for each profiler, how many reports were left out because their exports are read instead.
 */
static void print_exported(const tm_table *left) {
    size_t n_formats;
    const tm_format *const *formats = tm_formats(&n_formats);
    for (size_t f = 0; f < n_formats; f++) {
        const tm_converter *converter = formats[f]->converter;
        size_t n = 0;
        for (size_t i = 0; i < left->n_rows && converter; i++)
            n += strcmp(tm_table_row(left, i)[1].value.text, "exported") == 0 &&
                 tm_converter_of(tm_table_row(left, i)[0].value.text) == converter;
        if (n > 0)
            printf("  (%zu of them %s whose %s export was given too and is read)\n", n,
                   converter->report_end, converter->trace_end);
    }
}

void tm_summary_left_out(const tm_tables *tables, const tm_colors *colors) {
    const tm_table *left = tm_tables_find(tables, "job.left_out");
    if (left->n_rows == 1) {
        const char *path = tm_table_row(left, 0)[0].value.text, *base = strrchr(path, '/');
        printf("%s! left out: %s%s; show job.left_out says why\n", colors->warning,
               base ? base + 1 : path, colors->off);
    }
    if (left->n_rows > 1)
        printf("%s! %zu files left out%s; show job.left_out says which and why\n", colors->warning,
               left->n_rows, colors->off);
    print_exported(left);
}
