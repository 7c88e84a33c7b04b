/* PyTorch's memory allocations and releases, and counters sampled on the device and the host. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "ascend_db_reader.h"
#include "base/sums.h"

/* PyTorch's number for the device type of NPUs, PrivateUse1. */
enum { NPU = 20 };

static tm_status add_block(tm_ascend_db *d, sqlite3_value **values, int64_t bytes, tm_error *err) {
    enum { ALLOCATED = 2, RESERVED, DEVICE };
    const tm_text beside = {"memory", 6};
    int64_t device = tm_db_int(values, DEVICE, -1);
    const tm_raw_event event = {.kind = TM_INSTANT,
                                .category = TM_CAT_CPU_INSTANT,
                                .name = tm_names_intern_string(d->names, "[memory]"),
                                .track = tm_ascend_db_track(d, TM_TRACK_CPU, device, beside)};
    tm_memory_attr attr = {.address = -1,
                           .bytes = bytes,
                           .allocated_bytes = tm_db_int(values, ALLOCATED, -1),
                           .reserved_bytes = tm_db_int(values, RESERVED, -1),
                           .device_type = NPU,
                           .device = tm_narrow_i32(device)};
    TM_TRY(tm_ascend_db_add(d, values, event, &attr.event, err));
    return attr.event == TM_NO_EVENT || tm_vec_append(&d->trace->attrs[TM_ATTR_MEMORY], &attr, 1)
               ? TM_OK
               : tm_fail_memory(err);
}

/* Adds a block of memory. Skips CANN's own blocks, which have no active bytes and are not in
 * PyTorch's totals. */
static tm_status each_block(void *context, sqlite3_value **values, tm_error *err) {
    enum { SIZE = 5, ACTIVE, RELEASED };
    tm_ascend_db *d = context;
    int64_t bytes = tm_db_int(values, SIZE, -1);
    /* The columns from RELEASED on describe the release. Their order is that of the first columns,
     * which describe the allocation. */
    bool releases = sqlite3_value_type(values[RELEASED]) != SQLITE_NULL;
    if (tm_db_int(values, ACTIVE, -1) < 0)
        return TM_OK;
    if (bytes < 0) {
        d->trace->counts[TM_COUNT_BAD_VALUE]++;
        return TM_OK;
    }
    TM_TRY(add_block(d, values, bytes, err));
    return releases ? add_block(d, values + RELEASED, -bytes, err) : TM_OK;
}

static tm_status read_memory(tm_ascend_db *d, tm_error *err) {
    static const char *const columns[] = {"allocationTime",
                                          "",
                                          "allocationTotalAllocated",
                                          "allocationTotalReserved",
                                          "deviceId",
                                          "size",
                                          "allocationTotalActive",
                                          "releaseTime",
                                          "",
                                          "releaseTotalAllocated",
                                          "releaseTotalReserved",
                                          "deviceId"};
    return tm_ascend_db_scan(d, &(tm_db_query){"OP_MEMORY", columns, 12, NULL, NULL}, each_block,
                             err);
}

/* A counter with one value in each row of a table. */
typedef struct series {
    const char *table, *value, *unit;
    const char *name;
    const char *number; /* column whose number is appended to the name, or NULL */
    const char *word;   /* column whose string is appended after the number, or NULL */
} series;

/* The databases hold bandwidths in bytes per second. */
static const series all_series[] = {
    {"AICORE_FREQ", "freq", "MHz", "AI Core Freq", NULL, NULL},
    {"HBM", "bandwidth", "B/s", "HBM", "hbmId", "type"},
    {"DDR", "read", "B/s", "DDR read", NULL, NULL},
    {"DDR", "write", "B/s", "DDR write", NULL, NULL},
    {"LLC", "hitRate", "%", "LLC hit rate", "llcId", "mode"},
    {"LLC", "throughput", "B/s", "LLC throughput", "llcId", "mode"},
    {"NPU_MEM", "hbm", "bytes", "NPU memory", NULL, "type"},
    {"HCCS", "txThroughput", "B/s", "HCCS sent", NULL, NULL},
    {"HCCS", "rxThroughput", "B/s", "HCCS received", NULL, NULL},
    {"PCIE", "txPostAvg", "B/s", "PCIe sent", NULL, NULL},
    {"PCIE", "rxPostAvg", "B/s", "PCIe received", NULL, NULL},
    {"QOS", "bandwidth", "B/s", "QoS", NULL, "eventName"},
    {"NIC", "txByteRate", "B/s", "NIC sent", "funcId", NULL},
    {"NIC", "rxByteRate", "B/s", "NIC received", "funcId", NULL},
    {"RoCE", "txByteRate", "B/s", "RoCE sent", "funcId", NULL},
    {"RoCE", "rxByteRate", "B/s", "RoCE received", "funcId", NULL},
};

typedef struct sampling {
    tm_ascend_db *d;
    const series *of;
    uint32_t unit;
} sampling;

static uint32_t name_of(const sampling *s, int64_t number, int64_t word) {
    char text[96];
    const tm_json_text kind = tm_ascend_db_text(&s->d->strings, word);
    int n = snprintf(text, sizeof text, "%s", s->of->name);
    if (s->of->number && number >= 0)
        n += snprintf(text + n, sizeof text - (size_t)n, " %" PRId64, number);
    if (s->of->word && kind.size > 0)
        n += snprintf(text + n, sizeof text - (size_t)n, " %.*s",
                      (int)(kind.size < 32 ? kind.size : 32), kind.bytes);
    return tm_names_intern(s->d->names, text, (size_t)n);
}

static tm_status each_sample(void *context, sqlite3_value **values, tm_error *err) {
    enum { VALUE = 2, DEVICE, NUMBER, WORD };
    const sampling *s = context;
    const tm_raw_event event = {
        .kind = TM_COUNTER,
        .category = TM_CAT_NONE,
        .name = name_of(s, tm_db_int(values, NUMBER, -1), tm_db_int(values, WORD, -1)),
        .track = tm_ascend_db_track(s->d, TM_TRACK_CPU, tm_db_int(values, DEVICE, -1),
                                    (tm_text){"samples", 7})};
    tm_counter_attr attr = {.value = sqlite3_value_double(values[VALUE]), .series = s->unit};
    const int type = sqlite3_value_type(values[VALUE]);
    const bool number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
    if (!number || !isfinite(attr.value)) {
        s->d->trace->counts[TM_COUNT_BAD_VALUE] += type != SQLITE_NULL;
        return TM_OK;
    }
    TM_TRY(tm_ascend_db_add(s->d, values, event, &attr.event, err));
    return attr.event == TM_NO_EVENT ||
                   tm_vec_append(&s->d->trace->attrs[TM_ATTR_COUNTER], &attr, 1)
               ? TM_OK
               : tm_fail_memory(err);
}

tm_status tm_ascend_db_read_samples(tm_ascend_db *d, tm_error *err) {
    TM_TRY(read_memory(d, err));
    for (size_t i = 0; i < sizeof all_series / sizeof *all_series; i++) {
        const series *of = &all_series[i];
        sampling s = {d, of, tm_names_intern_string(d->names, of->unit)};
        const char *const columns[] = {
            "timestampNs",           "", of->value, "deviceId", of->number ? of->number : "",
            of->word ? of->word : ""};
        if (s.unit == TM_NAME_FAILED)
            return tm_fail_memory(err);
        TM_TRY(tm_db_scan(&d->db, &(tm_db_query){of->table, columns, 6, NULL, NULL}, 0, each_sample,
                          &s, err));
    }
    return TM_OK;
}
