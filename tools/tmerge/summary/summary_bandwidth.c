#include <stdio.h>
#include <stdlib.h>

#include "base/sorted.h"
#include "summary/summary.h"
#include "summary/summary_text.h"

enum { ROWS_SHOWN = 6, NAME_SHOWN = 24 };

/* A row of collectives.kind, and the total time of its transfers. */
typedef struct entry {
    size_t row;
    int64_t ns;
} entry;

TM_ORDER_FALLING(by_time, entry, ns, row);

static void print_row(const tm_table *kinds, size_t row) {
    const tm_cell *algbw = tm_table_cell(kinds, row, "algbw_gbps");
    const tm_cell *busbw = tm_table_cell(kinds, row, "busbw_gbps");
    printf("%-13s %-*.*s %5" PRId64 " %6" PRId64 " %11.3f %10.3f",
           tm_table_cell(kinds, row, "kind")->value.text, NAME_SHOWN, NAME_SHOWN,
           tm_table_cell(kinds, row, "group")->value.text, number(kinds, row, "ranks"),
           number(kinds, row, "count"), (double)number(kinds, row, "bytes") / 1e6,
           (double)number(kinds, row, "median_transfer_ns") / 1e6);
    printf(algbw->null ? "       -" : " %7.2f", algbw->value.r);
    printf(busbw->null ? "       -\n" : " %7.2f\n", busbw->value.r);
}

tm_status tm_summary_bandwidth(const tm_tables *tables, tm_error *err) {
    const tm_table *kinds = tm_tables_find(tables, "collectives.kind");
    entry *v = calloc(kinds->n_rows + 1, sizeof *v);
    size_t n = 0;
    if (!v)
        return tm_fail_memory(err);
    for (size_t i = 0; i < kinds->n_rows; i++)
        if (!tm_table_cell(kinds, i, "bytes")->null &&
            !tm_table_cell(kinds, i, "median_transfer_ns")->null)
            v[n++] = (entry){i, number(kinds, i, "count") * number(kinds, i, "median_transfer_ns")};
    if (n > 1)
        qsort(v, n, sizeof *v, by_time);
    if (n > 0)
        printf("%-13s %-*s %5s %6s %11s %10s %7s %7s\n", "operation", NAME_SHOWN, "communicator",
               "ranks", "times", "median MB", "ms", "algbw", "busbw");
    for (size_t i = 0; i < n && i < ROWS_SHOWN; i++)
        print_row(kinds, v[i].row);
    if (n > 0)
        printf("(ms and GB/s as in nccl-tests, from the arrival of the last rank%s)\n",
               n > ROWS_SHOWN ? "; show collectives.kind lists all" : "");
    puts("Only communication is recorded: the computation and idle time of ranks are unknown");
    free(v);
    return TM_OK;
}
