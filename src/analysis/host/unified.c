#include "unified.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/keys.h"
#include "base/sums.h"
#include "table/levels.h"

/* Maximum number of addresses of a rank that have their own row. */
#define LISTED 1000

enum {
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
    N_SUMS
};

enum { LEVEL, RANK, ADDRESS, ADDRESSES, SUMS, N_COLUMNS = SUMS + N_SUMS };

static const tm_column columns[N_COLUMNS] = {
    [LEVEL] = TM_LEVEL_COLUMN("address or rank"),
    [RANK] = {"rank", TM_INT, "", "Global rank."},
    [ADDRESS] = {"address", TM_TEXT, "",
                 "Virtual address of the page (of several pages, the first) in the trace, with at "
                 "least 12 hexadecimal digits. Null if no address was recorded, in the row for all "
                 "other addresses, and on level rank."},
    [ADDRESSES] = {"addresses", TM_INT, "",
                   "Number of addresses that the row sums. It is 1 on most rows, and may be larger "
                   "in the row for all other addresses and on level rank. It is 0 if no address "
                   "was recorded, or if an older tmerge merged the traces."},
    [SUMS + H2D_COUNT] = {"to_device", TM_INT, "",
                          "Number of migrations of pages from the host to a device."},
    [SUMS + H2D_BYTES] = {"to_device_bytes", TM_INT, "B",
                          "Bytes that migrated from the host to a device."},
    [SUMS + H2D_TIME] = {"to_device_ns", TM_INT, "ns",
                         "Sum of the durations of the migrations to a device."},
    [SUMS + D2H_COUNT] = {"to_host", TM_INT, "",
                          "Number of migrations of pages from a device to the host."},
    [SUMS + D2H_BYTES] = {"to_host_bytes", TM_INT, "B",
                          "Bytes that migrated from a device to the host."},
    [SUMS + D2H_TIME] = {"to_host_ns", TM_INT, "ns",
                         "Sum of the durations of the migrations to the host."},
    [SUMS + GPU_FAULTS] = {"gpu_faults", TM_INT, "", "Number of page faults on devices."},
    [SUMS + GPU_GROUPS] = {"gpu_fault_groups", TM_INT, "",
                           "Number of groups in which the driver handled page faults of devices."},
    [SUMS + GPU_TIME] = {"gpu_fault_ns", TM_INT, "ns",
                         "Sum of the durations of the groups counted by gpu_fault_groups."},
    [SUMS + CPU_FAULTS] = {"cpu_faults", TM_INT, "",
                           "Number of page faults on the host in unified memory."},
};

const tm_table_def tm_unified_table = {
    .name = "host.unified_memory",
    .doc = "A row for each rank whose trace has migrations or page faults of unified memory, like "
           "um_total_sum of nsys stats, and for each virtual address at which a rank had them, "
           "like um_sum. Each rank has the 1000 addresses with the largest to_device_bytes + "
           "to_host_bytes, then gpu_faults, then cpu_faults, and a row for all others. stats.time "
           "shows the host functions that faulted.",
    TM_ARRAY(columns, columns),
    .n_keys = ADDRESS + 1,
    .top = SUMS + GPU_FAULTS,
};

typedef struct place {
    int64_t address, addresses;
    int64_t sums[N_SUMS];
} place;

/* Sums of a rank, while its events are read in the order of rows. */
typedef struct adder {
    const tm_rank_view *view;
    tm_keys addresses; /* keys of int64_t: addresses; 0: not recorded */
    tm_vec places;     /* [keys] of place */
    size_t next; /* index of the next attribute; earlier attributes belong to earlier events */
} adder;

/* Returns the sums of an event's address; NULL if out of memory. */
static int64_t *sums_of(adder *a, uint32_t event) {
    const tm_timeline *timeline = a->view->timeline;
    const tm_unified_attr *attrs = timeline->attrs[TM_ATTR_UNIFIED];
    const size_t n = timeline->n_attrs[TM_ATTR_UNIFIED];
    while (a->next < n && attrs[a->next].event < event)
        a->next++;
    const bool known = a->next < n && attrs[a->next].event == event;
    const int64_t address = known ? attrs[a->next].address : 0;
    place *at = tm_keys_value(&a->addresses, &a->places, &address);
    if (!at)
        return NULL;
    at->address = address;
    at->addresses = known;
    return at->sums;
}

static void add(int64_t *own, int column, int64_t value) {
    own[column] = tm_sum(own[column], value > 0 ? value : 0);
}

/* Adds a copy, if its name shows that it is a migration. */
static bool take_copy(adder *a, const tm_copy_attr *copy) {
    const tm_timeline *timeline = a->view->timeline;
    const char *name = tm_names_text(a->view->names, timeline->name[copy->event]).bytes;
    const bool in = strncmp(name, "Memcpy Unified HtoD", 19) == 0;
    if (!in && strncmp(name, "Memcpy Unified DtoH", 19) != 0)
        return true;
    int64_t *own = sums_of(a, copy->event);
    if (!own)
        return false;
    add(own, in ? H2D_COUNT : D2H_COUNT, 1);
    add(own, in ? H2D_BYTES : D2H_BYTES, copy->bytes);
    add(own, in ? H2D_TIME : D2H_TIME, timeline->duration_ns[copy->event]);
    return true;
}

static bool take_fault(adder *a, uint32_t row) {
    const tm_timeline *timeline = a->view->timeline;
    const bool gpu = timeline->kind[row] == TM_DURATION;
    int64_t *own = sums_of(a, row);
    if (!own)
        return false;
    add(own, gpu ? GPU_GROUPS : CPU_FAULTS, 1);
    if (gpu)
        add(own, GPU_TIME, timeline->duration_ns[row]);
    return true;
}

static bool take_number(adder *a, const tm_counter_attr *counter) {
    int64_t *own = sums_of(a, counter->event);
    if (own)
        add(own, GPU_FAULTS, (int64_t)counter->value);
    return own != NULL;
}

static bool take_rank(adder *a) {
    const tm_timeline *timeline = a->view->timeline;
    const tm_copy_attr *copies = timeline->attrs[TM_ATTR_COPY];
    const tm_counter_attr *counters = timeline->attrs[TM_ATTR_COUNTER];
    const bool faults =
        timeline->n_events > 0 && memchr(timeline->category, TM_CAT_PAGE_FAULT, timeline->n_events);
    bool ok = true;
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COPY] && ok; i++)
        ok = take_copy(a, &copies[i]);
    a->next = 0;
    for (uint32_t row = 0; faults && row < timeline->n_events && ok; row++)
        ok = timeline->category[row] != TM_CAT_PAGE_FAULT || take_fault(a, row);
    a->next = 0;
    for (size_t i = 0; faults && i < timeline->n_attrs[TM_ATTR_COUNTER] && ok; i++)
        ok = timeline->category[counters[i].event] != TM_CAT_PAGE_FAULT ||
             take_number(a, &counters[i]);
    return ok;
}

/* Sorts by migrated bytes. The row without an address comes last. */
static int by_weight(const void *a, const void *b) {
    const place *x = a, *y = b;
    const int64_t weights[][2] = {
        {x->addresses, y->addresses},
        {tm_sum(x->sums[H2D_BYTES], x->sums[D2H_BYTES]),
         tm_sum(y->sums[H2D_BYTES], y->sums[D2H_BYTES])},
        {x->sums[GPU_FAULTS], y->sums[GPU_FAULTS]},
        {x->sums[CPU_FAULTS], y->sums[CPU_FAULTS]},
        {y->address, x->address},
    };
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
        if (weights[i][0] != weights[i][1])
            return weights[i][0] > weights[i][1] ? -1 : 1;
    return 0;
}

static void add_place(place *to, const place *from) {
    to->addresses += from->addresses;
    for (int c = 0; c < N_SUMS; c++)
        to->sums[c] = tm_sum(to->sums[c], from->sums[c]);
}

/* Merges all addresses after the first LISTED into one row. Returns the new number of rows. */
static size_t unite_others(place *v, size_t n) {
    size_t known = n - (n > 0 && v[n - 1].addresses == 0);
    if (known <= LISTED + 1)
        return n;
    for (size_t i = LISTED + 1; i < known; i++)
        add_place(&v[LISTED], &v[i]);
    if (known < n)
        v[LISTED + 1] = v[known];
    return LISTED + 1 + (n - known);
}

static tm_status add_row(const adder *a, const char *level, const char *address, const place *p,
                         tm_table *table, tm_error *err) {
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[RANK], a->view->timeline->rank);
    tm_cell_set_int(&row[ADDRESSES], p->addresses);
    for (int c = 0; c < N_SUMS; c++)
        tm_cell_set_int(&row[SUMS + c], p->sums[c]);
    TM_TRY(tm_table_set_text(table, &row[LEVEL], level, err));
    return tm_table_set_text(table, &row[ADDRESS], address, err);
}

static tm_status add_rows(adder *a, tm_table *table, tm_error *err) {
    place *v = a->places.data, all = {0};
    if (a->places.n == 0)
        return TM_OK;
    qsort(v, a->places.n, sizeof *v, by_weight);
    const size_t n = unite_others(v, a->places.n);
    for (size_t i = 0; i < n; i++) {
        char text[24];
        snprintf(text, sizeof text, "0x%012" PRIx64, (uint64_t)v[i].address);
        TM_TRY(add_row(a, "address", v[i].addresses == 1 ? text : NULL, &v[i], table, err));
        add_place(&all, &v[i]);
    }
    return add_row(a, "rank", NULL, &all, table, err);
}

tm_status tm_unified_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    adder a = {.view = view, .addresses = TM_KEYS(int64_t), .places = TM_VEC(place)};
    tm_status status = take_rank(&a) ? add_rows(&a, tm_tables_find(out, tm_unified_table.name), err)
                                     : tm_fail_memory(err);
    tm_keys_free(&a.addresses);
    tm_vec_free(&a.places);
    return status;
}
