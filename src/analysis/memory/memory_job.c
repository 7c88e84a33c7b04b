/* The table memory.job: compares the ranks' memory, and finds the rank that is nearest to its
 * limit. */
#include <string.h>

#include "base/median.h"
#include "tables.h"

enum {
    J_DEVICE,
    J_RANKS,
    J_DEVICES,
    J_MIN,
    J_MEDIAN,
    J_MAX,
    J_MAX_RANK,
    J_NEAREST,
    J_NEAREST_PCT,
    J_GROWING,
    J_FIRST,
    J_STEPS_LEFT
};

static const tm_column columns[] = {
    [J_DEVICE] = {"device", TM_TEXT, "", "Type of device, such as cpu or cuda."},
    [J_RANKS] = {"ranks", TM_INT, "", "Number of ranks with records of this type of device."},
    [J_DEVICES] = {"devices", TM_INT, "",
                   "Number of devices of this type (rows of memory.device)."},
    [J_MIN] = {"peak_min_bytes", TM_INT, "B",
               "Smallest peak of a device (memory.device.peak_bytes)."},
    [J_MEDIAN] = {"peak_median_bytes", TM_INT, "B",
                  "Median peak over the devices (memory.device.peak_bytes)."},
    [J_MAX] = {"peak_max_bytes", TM_INT, "B",
               "Largest peak of a device (memory.device.peak_bytes)."},
    [J_MAX_RANK] =
        {"peak_max_rank", TM_INT, "",
         "Rank with the largest peak (peak_max_bytes); the lowest if there are several."},
    [J_NEAREST] = {"nearest_rank", TM_INT, "",
                   "Rank nearest to its memory limit: with the largest memory.device.capacity_pct; "
                   "the lowest if there are several. Null if no capacity is known."},
    [J_NEAREST_PCT] = {"nearest_pct", TM_REAL, "%",
                       "How full the device of nearest_rank is: memory.device.capacity_pct."},
    [J_GROWING] =
        {"growing_devices", TM_INT, "",
         "Number of devices whose memory grows in each step (memory.device.pattern is growth)."},
    [J_FIRST] = {"first_rank", TM_INT, "",
                 "Rank that would run out of memory first: with the smallest "
                 "memory.device.steps_left; the lowest if there are several."},
    [J_STEPS_LEFT] =
        {"steps_left", TM_INT, "",
         "Number of steps until first_rank is out of memory: memory.device.steps_left."},
};

const tm_table_def tm_memory_job_def = {
    .name = "memory.job",
    .doc = "A row for each type of device: its memory compared over all ranks.",
    TM_ARRAY(columns, columns),
    .n_keys = 1,
    .top = J_MAX,
};

static bool is_of(const tm_cell *device, const char *type) {
    size_t n = strcspn(device->value.text, ":");
    return strlen(type) == n && memcmp(device->value.text, type, n) == 0;
}

/* Returns whether a value is above the largest value so far. If values are equal, the first stays,
 * which belongs to the lowest rank. */
static bool is_more(const tm_cell *cell, const tm_cell *than) {
    return !cell->null && (than->null || cell->value.i > than->value.i);
}

static void count(const tm_table *devices, size_t i, int64_t *before, tm_cell *row) {
    const tm_cell *rank = tm_table_cell(devices, i, "rank");
    const tm_cell *peak = tm_table_cell(devices, i, "peak_bytes");
    const tm_cell *pct = tm_table_cell(devices, i, "capacity_pct");
    const tm_cell *pattern = tm_table_cell(devices, i, "pattern");
    const tm_cell *left = tm_table_cell(devices, i, "steps_left");
    row[J_RANKS].value.i += rank->value.i != *before;
    row[J_DEVICES].value.i++;
    row[J_GROWING].value.i += !pattern->null && strcmp(pattern->value.text, "growth") == 0;
    *before = rank->value.i;
    if (is_more(peak, &row[J_MAX])) {
        row[J_MAX] = *peak;
        row[J_MAX_RANK] = *rank;
    }
    if (row[J_MIN].null || peak->value.i < row[J_MIN].value.i)
        row[J_MIN] = *peak;
    if (!pct->null && (row[J_NEAREST].null || pct->value.r > row[J_NEAREST_PCT].value.r)) {
        row[J_NEAREST_PCT] = *pct;
        row[J_NEAREST] = *rank;
    }
    if (!left->null && (row[J_FIRST].null || left->value.i < row[J_STEPS_LEFT].value.i)) {
        row[J_STEPS_LEFT] = *left;
        row[J_FIRST] = *rank;
    }
}

static tm_status add_type(const tm_table *devices, const char *type, tm_table *table,
                          tm_error *err) {
    tm_vec peaks = TM_VEC(int64_t);
    int64_t before = -1;
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[J_RANKS], 0);
    tm_cell_set_int(&row[J_DEVICES], 0);
    tm_cell_set_int(&row[J_GROWING], 0);
    for (size_t i = 0; i < devices->n_rows; i++) {
        if (!is_of(tm_table_cell(devices, i, "device"), type))
            continue;
        count(devices, i, &before, row);
        if (!tm_vec_append(&peaks, &tm_table_cell(devices, i, "peak_bytes")->value.i, 1)) {
            tm_vec_free(&peaks);
            return tm_fail_memory(err);
        }
    }
    tm_cell_set_int(&row[J_MEDIAN], tm_median_any(peaks.data, peaks.n));
    tm_vec_free(&peaks);
    return tm_table_set_text(table, &row[J_DEVICE], type, err);
}

/* linear search: there are few types of devices */
static bool is_known(const tm_table *table, const tm_cell *device) {
    for (size_t i = 0; i < table->n_rows; i++)
        if (is_of(device, tm_table_row(table, i)[J_DEVICE].value.text))
            return true;
    return false;
}

tm_status tm_memory_compare_ranks(tm_tables *tables, tm_error *err) {
    const tm_table *devices = tm_tables_find(tables, "memory.device");
    tm_table *table = tm_tables_find(tables, tm_memory_job_def.name);
    for (size_t i = 0; i < devices->n_rows; i++) {
        const tm_cell *device = tm_table_cell(devices, i, "device");
        char type[64] = "";
        if (is_known(table, device))
            continue;
        size_t n = strcspn(device->value.text, ":");
        memcpy(type, device->value.text, n < sizeof type ? n : sizeof type - 1);
        TM_TRY(add_type(devices, type, table, err));
    }
    tm_table_sort(table);
    return TM_OK;
}
