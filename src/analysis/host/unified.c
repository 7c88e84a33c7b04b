#include "unified.h"

#include <string.h>

#include "base/sums.h"

enum {
    RANK,
    H2D_COUNT,
    H2D_BYTES,
    H2D_TIME,
    D2H_COUNT,
    D2H_BYTES,
    D2H_TIME,
    GPU_FAULTS,
    GPU_GROUPS,
    GPU_TIME,
    CPU_FAULTS,
    N_COLUMNS
};

static const tm_column columns[N_COLUMNS] = {
    [RANK] = {"rank", TM_INT, "", "Global rank."},
    [H2D_COUNT] = {"to_device", TM_INT, "", "Migrations of pages from the host to a device."},
    [H2D_BYTES] = {"to_device_bytes", TM_INT, "B", "What they moved."},
    [H2D_TIME] = {"to_device_ns", TM_INT, "ns", "Sum of their durations."},
    [D2H_COUNT] = {"to_host", TM_INT, "", "Migrations of pages from a device to the host."},
    [D2H_BYTES] = {"to_host_bytes", TM_INT, "B", "What they moved."},
    [D2H_TIME] = {"to_host_ns", TM_INT, "ns", "Sum of their durations."},
    [GPU_FAULTS] = {"gpu_faults", TM_INT, "", "Page faults of devices."},
    [GPU_GROUPS] = {"gpu_fault_groups", TM_INT, "", "Groups in which the driver served them."},
    [GPU_TIME] = {"gpu_fault_ns", TM_INT, "ns", "Sum of the durations of these groups."},
    [CPU_FAULTS] = {"cpu_faults", TM_INT, "", "Page faults of the host in unified memory."},
};

const tm_table_def tm_unified_table = {
    .name = "host.unified",
    .doc = "A row for each rank whose trace has migrations or page faults of unified memory: what "
           "nsys stats has in um_total_sum. Addresses are not kept, and so which pages they are of "
           "(um_sum) nsys stats alone tells; the host's instructions are in stats.time.",
    .columns = columns,
    .n_columns = N_COLUMNS,
    .n_keys = 1,
    .top = GPU_FAULTS,
};

static void add(int64_t *sums, int column, int64_t value) {
    sums[column] = tm_sum(sums[column], value > 0 ? value : 0);
}

/* A copy that no call asked for, as the reader names it. */
static void take_copy(const tm_rank_view *view, const tm_copy_attr *copy, int64_t *sums) {
    const tm_timeline *timeline = view->timeline;
    const char *name = tm_names_text(view->names, timeline->name[copy->event]).bytes;
    const bool in = strncmp(name, "Memcpy Unified HtoD", 19) == 0;
    if (!in && strncmp(name, "Memcpy Unified DtoH", 19) != 0)
        return;
    sums[in ? H2D_COUNT : D2H_COUNT]++;
    add(sums, in ? H2D_BYTES : D2H_BYTES, copy->bytes);
    add(sums, in ? H2D_TIME : D2H_TIME, timeline->duration_ns[copy->event]);
}

static void take_faults(const tm_timeline *timeline, int64_t *sums) {
    const tm_counter_attr *attrs = timeline->attrs[TM_ATTR_COUNTER];
    for (size_t row = 0; row < timeline->n_events; row++) {
        const bool gpu = timeline->kind[row] == TM_DURATION;
        if (timeline->category[row] != TM_CAT_PAGE_FAULT)
            continue;
        sums[gpu ? GPU_GROUPS : CPU_FAULTS]++;
        if (gpu)
            add(sums, GPU_TIME, timeline->duration_ns[row]);
    }
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COUNTER]; i++)
        if (timeline->category[attrs[i].event] == TM_CAT_PAGE_FAULT)
            add(sums, GPU_FAULTS, (int64_t)attrs[i].value);
}

tm_status tm_unified_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    const tm_copy_attr *copies = timeline->attrs[TM_ATTR_COPY];
    int64_t sums[N_COLUMNS] = {0}, any = 0;
    if (timeline->n_events > 0 && memchr(timeline->category, TM_CAT_PAGE_FAULT, timeline->n_events))
        take_faults(timeline, sums);
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COPY]; i++)
        take_copy(view, &copies[i], sums);
    for (int c = RANK + 1; c < N_COLUMNS; c++)
        any |= sums[c];
    if (any == 0)
        return TM_OK;
    tm_cell *row = tm_table_add_row(tm_tables_find(out, tm_unified_table.name));
    if (!row)
        return tm_fail_memory(err);
    sums[RANK] = timeline->rank;
    for (int c = 0; c < N_COLUMNS; c++)
        tm_cell_set_int(&row[c], sums[c]);
    return TM_OK;
}
