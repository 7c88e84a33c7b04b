#include "device_means.h"

static int64_t number(const tm_table *table, size_t row, const char *column) {
    return tm_table_cell(table, row, column)->value.i;
}

size_t tm_devices_of(const tm_tables *tables, int64_t rank, size_t *first) {
    const tm_table *devices = tm_tables_find(tables, "overlap.device");
    size_t n = 0;
    *first = tm_table_find_row(devices, &rank, 1);
    while (*first + n < devices->n_rows && number(devices, *first + n, "rank") == rank)
        n++;
    return n;
}

bool tm_device_works(const tm_tables *tables, size_t row) {
    const tm_cell *works = tm_table_cell(tm_tables_find(tables, "overlap.device"), row, "works");
    /* older stores have no value here, because they have rows only for devices that work */
    return works->null || works->value.i;
}

int64_t tm_device_mean(const tm_tables *tables, size_t row, const char *column) {
    const tm_table *ranks = tm_tables_find(tables, "overlap.rank");
    const tm_table *devices = tm_tables_find(tables, "overlap.device");
    size_t first, n = tm_devices_of(tables, number(ranks, row, "rank"), &first);
    int64_t sum = 0, working = 0;
    for (size_t i = 0; i < n; i++) {
        const bool works = tm_device_works(tables, first + i);
        sum += works ? number(devices, first + i, column) : 0;
        working += works;
    }
    return working > 0 ? sum / working : number(ranks, row, column);
}

int64_t tm_device_mean_sum(const tm_tables *tables, const char *column) {
    const tm_table *ranks = tm_tables_find(tables, "overlap.rank");
    int64_t sum = 0;
    for (size_t i = 0; i < ranks->n_rows; i++)
        if (!tm_table_cell(ranks, i, "compute_ns")->null)
            sum += tm_device_mean(tables, i, column);
    return sum;
}
