#include "nsys_emit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sums.h"
#include "nsys_counters.h"
#include "nsys_memory.h"
#include "nsys_mpi.h"
#include "nsys_nccl.h"
#include "nsys_nvtx.h"
#include "nsys_sched.h"
#include "nsys_stacks.h"
#include "nsys_units.h"
#include "nsys_waits.h"

enum { START = TM_NSYS_START, END, AT, REST };

/* A table of an export: its columns, and the function that makes events from a row. */
typedef struct table_def {
    const char *name;
    const char *columns[24]; /* NULL-terminated */
    tm_status (*row)(tm_nsys_emitter *e, sqlite3_value **values, tm_error *err);
} table_def;

static uint32_t number_text(tm_nsys_emitter *e, int64_t number) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    return tm_names_intern_string(e->names, text);
}

uint32_t tm_nsys_track_of(tm_nsys_emitter *e, tm_track_kind kind, int64_t first, int64_t second) {
    uint64_t hash = ((uint64_t)first * 31 + (uint64_t)second * 2 + kind) * 0x9E3779B97F4A7C15u;
    tm_nsys_track *known = &e->tracks[hash >> 58];
    if (known->kind == kind && known->first == first && known->second == second)
        return known->track;
    uint32_t pid = number_text(e, first), tid = number_text(e, second);
    if (pid == TM_NAME_FAILED || tid == TM_NAME_FAILED)
        return UINT32_MAX;
    uint32_t index = tm_trace_track(e->trace, kind, pid, tid);
    if (index == UINT32_MAX)
        return UINT32_MAX;
    tm_track *track = (tm_track *)e->trace->tracks.data + index;
    if (kind == TM_TRACK_GPU) {
        track->device = tm_narrow_i32(first);
        track->stream = second;
    }
    *known = (tm_nsys_track){first, second, index, (uint8_t)kind};
    return index;
}

/* Returns the reason to reject an event with these times. Returns TM_N_COUNTS if the event is
 * accepted. Its start must be in [-1e18, 3e18] ns and its duration in [0, TM_DAY_NS]. INT64_MIN
 * stands for a missing time. */
static tm_count wrong_times(int64_t start, int64_t end, int64_t base) {
    const int64_t least = -INT64_C(1000000000000000000), most = INT64_C(3000000000000000000);
    if (start < least || start > most || start + base < least)
        return TM_COUNT_NO_TIME;
    if (end == INT64_MIN)
        return TM_COUNT_OPEN_RANGE;
    if (end < start)
        return TM_COUNT_NEGATIVE_DURATION;
    return end > most + TM_DAY_NS || end - start > TM_DAY_NS ? TM_COUNT_ABSURD_DURATION
                                                             : TM_N_COUNTS;
}

tm_status tm_nsys_add_at(tm_nsys_emitter *e, int64_t start, int64_t end, tm_raw_event event,
                         uint32_t *row, tm_error *err) {
    tm_trace *trace = e->trace;
    tm_count wrong = wrong_times(start, end, e->base_ns);
    *row = TM_NO_EVENT;
    if (wrong != TM_N_COUNTS) {
        trace->counts[wrong]++;
        return TM_OK;
    }
    event.begin_ns = start + e->base_ns;
    event.duration_ns = end - start;
    event.launch = TM_NO_EVENT;
    if (event.name == TM_NAME_FAILED || event.track == UINT32_MAX ||
        trace->events.n >= TM_NO_EVENT - 1 || !tm_vec_append(&trace->events, &event, 1))
        return tm_fail_memory(err);
    trace->counts[TM_COUNT_NO_NAME] += event.name == TM_NO_NAME;
    *row = (uint32_t)(trace->events.n - 1);
    return TM_OK;
}

tm_status tm_nsys_add(tm_nsys_emitter *e, sqlite3_value **values, tm_raw_event event, uint32_t *row,
                      tm_error *err) {
    int64_t start = tm_db_int(values, START, INT64_MIN);
    int64_t end = event.kind == TM_DURATION ? tm_db_int(values, END, INT64_MIN) : start;
    return tm_nsys_add_at(e, start, end, event, row, err);
}

tm_status tm_nsys_add_on_stream(tm_nsys_emitter *e, sqlite3_value **values, tm_category category,
                                uint32_t name, uint32_t *row, tm_error *err) {
    enum { DEVICE = REST, STREAM };
    /* This stream stands for the whole context, for example in a wait for all streams of the
     * context. */
    const int64_t invalid_stream = UINT32_MAX;
    int64_t device = tm_db_int(values, DEVICE, 0), stream = tm_db_int(values, STREAM, -1);
    *row = TM_NO_EVENT;
    if (!((uint64_t)e->unit->devices & tm_unit_device(device)))
        return TM_OK;
    tm_raw_event event = {.name = name, .category = (uint8_t)category, .kind = TM_DURATION};
    event.track = tm_nsys_track_of(e, TM_TRACK_GPU, device, stream == invalid_stream ? -1 : stream);
    return tm_nsys_add(e, values, event, row, err);
}

tm_status tm_nsys_add_counter(tm_nsys_emitter *e, const tm_counter_attr *attr, tm_error *err) {
    if (attr->event == TM_NO_EVENT)
        return TM_OK;
    return attr->series != TM_NAME_FAILED &&
                   tm_vec_append(&e->trace->attrs[TM_ATTR_COUNTER], attr, 1)
               ? TM_OK
               : tm_fail_memory(err);
}

enum {
    K_DEVICE = REST,
    K_STREAM,
    K_CORRELATION,
    K_LONG_NAME,
    K_SHORT_NAME,
    K_REGISTERS,
    K_GRID,
    K_BLOCK = K_GRID + 3,
    K_STATIC = K_BLOCK + 3,
    K_DYNAMIC
};

/* Sets blocks and warps per multiprocessor, computed as in Kineto. */
static void set_load(const tm_nsys_emitter *e, int64_t device, tm_launch_shape *shape) {
    const tm_nsys_device *devices = e->devices.data;
    double blocks = 1, threads = 1;
    for (int i = 0; i < 3; i++) {
        blocks *= shape->grid[i];
        threads *= shape->block[i];
    }
    for (size_t i = 0; i < e->devices.n; i++)
        if (devices[i].device == device && devices[i].sms > 0 && shape->grid[0] > 0 &&
            shape->block[0] > 0) {
            shape->blocks_per_sm = (float)(blocks / (double)devices[i].sms);
            shape->warps_per_sm = (float)(blocks * threads / 32 / (double)devices[i].sms);
        }
}

static tm_status kernel_row(tm_nsys_emitter *e, sqlite3_value **values, tm_error *err) {
    uint32_t name, row;
    TM_TRY(tm_nsys_string(e, tm_db_int(values, K_LONG_NAME, -1), false, &name, err));
    if (name == TM_NO_NAME)
        TM_TRY(tm_nsys_string(e, tm_db_int(values, K_SHORT_NAME, -1), false, &name, err));
    TM_TRY(tm_nsys_add_on_stream(e, values, TM_CAT_KERNEL, name, &row, err));
    if (row == TM_NO_EVENT)
        return TM_OK;
    tm_launch_shape shape = tm_launch_shape_bare();
    for (int i = 0; i < 3; i++) {
        shape.grid[i] = tm_narrow_i32(tm_db_int(values, K_GRID + i, -1));
        shape.block[i] = tm_narrow_i32(tm_db_int(values, K_BLOCK + i, -1));
    }
    shape.registers = tm_narrow_i32(tm_db_int(values, K_REGISTERS, -1));
    int64_t fixed = tm_db_int(values, K_STATIC, -1), given = tm_db_int(values, K_DYNAMIC, -1);
    if (fixed >= 0 && given >= 0 && fixed <= INT32_MAX && given <= INT32_MAX)
        shape.shared_memory_bytes = tm_narrow_i32(fixed + given);
    set_load(e, tm_db_int(values, K_DEVICE, 0), &shape);
    return tm_trace_add_kernel(e->trace, row, tm_db_int(values, K_CORRELATION, 0), &shape)
               ? TM_OK
               : tm_fail_memory(err);
}

/* Adds a CUDA graph that was recorded as one event. The event becomes a kernel, because the graph
 * keeps the GPU busy. */
static tm_status graph_row(tm_nsys_emitter *e, sqlite3_value **values, tm_error *err) {
    enum { CORRELATION = REST + 2, GRAPH };
    char text[40];
    uint32_t row;
    snprintf(text, sizeof text, "CUDA graph %" PRId64, tm_db_int(values, GRAPH, -1));
    TM_TRY(tm_nsys_add_on_stream(e, values, TM_CAT_KERNEL, tm_names_intern_string(e->names, text),
                                 &row, err));
    if (row == TM_NO_EVENT)
        return TM_OK;
    e->trace->counts[TM_COUNT_WHOLE_GRAPH]++;
    return tm_trace_add_kernel(e->trace, row, tm_db_int(values, CORRELATION, 0), NULL)
               ? TM_OK
               : tm_fail_memory(err);
}

static tm_status add_copy_attr(tm_nsys_emitter *e, sqlite3_value **values, int correlation,
                               int bytes, uint32_t row, tm_error *err) {
    tm_copy_attr *attr = tm_vec_push(&e->trace->attrs[TM_ATTR_COPY]);
    if (!attr)
        return tm_fail_memory(err);
    *attr = (tm_copy_attr){.event = row,
                           .correlation = tm_db_int(values, correlation, 0),
                           .bytes = tm_db_int(values, bytes, -1),
                           .bandwidth_gbps = NAN};
    const tm_raw_event *event = (const tm_raw_event *)e->trace->events.data + row;
    /* Bytes per nanosecond are the same as GB/s. */
    if (attr->bytes >= 0 && event->duration_ns > 0)
        attr->bandwidth_gbps = (float)((double)attr->bytes / (double)event->duration_ns);
    return TM_OK;
}

/* Map CUPTI's memory and copy kinds to Kineto's words, which the analyses know. */
static const char *memory_word(int64_t kind) {
    static const char *const words[] = {"Pageable", "Pinned",        "Device",         "Array",
                                        "Managed",  "Device Static", "Managed Static", "Unknown"};
    return kind >= 0 && kind < (int64_t)(sizeof words / sizeof *words) ? words[kind] : "Unknown";
}

static const char *copy_word(int64_t kind) {
    static const char *const words[] = {
        "Unknown", "HtoD", "DtoH", "HtoA", "AtoH",         "AtoA",         "AtoD",
        "DtoA",    "DtoD", "HtoH", "PtoP", "Unified HtoD", "Unified DtoH", "Unified DtoD"};
    return kind >= 0 && kind < (int64_t)(sizeof words / sizeof *words) ? words[kind] : "Unknown";
}

static tm_status copy_row(tm_nsys_emitter *e, sqlite3_value **values, tm_error *err) {
    enum { CORRELATION = REST + 2, BYTES, KIND, FROM, TO, ADDRESS };
    enum { UNIFIED = 11, UNIFIED_END = 14 };
    const int64_t kind = tm_db_int(values, KIND, -1);
    char text[80];
    uint32_t row;
    snprintf(text, sizeof text, "Memcpy %s (%s -> %s)", copy_word(kind),
             memory_word(tm_db_int(values, FROM, -1)), memory_word(tm_db_int(values, TO, -1)));
    TM_TRY(tm_nsys_add_on_stream(e, values, TM_CAT_MEMCPY, tm_names_intern_string(e->names, text),
                                 &row, err));
    if (kind >= UNIFIED && kind < UNIFIED_END)
        TM_TRY(tm_nsys_add_address(e, tm_db_int(values, ADDRESS, 0), row, err));
    return row == TM_NO_EVENT ? TM_OK : add_copy_attr(e, values, CORRELATION, BYTES, row, err);
}

static tm_status set_row(tm_nsys_emitter *e, sqlite3_value **values, tm_error *err) {
    enum { CORRELATION = REST + 2, BYTES, MEMORY };
    char text[40];
    uint32_t row;
    snprintf(text, sizeof text, "Memset (%s)", memory_word(tm_db_int(values, MEMORY, -1)));
    TM_TRY(tm_nsys_add_on_stream(e, values, TM_CAT_MEMSET, tm_names_intern_string(e->names, text),
                                 &row, err));
    return row == TM_NO_EVENT ? TM_OK : add_copy_attr(e, values, CORRELATION, BYTES, row, err);
}

static tm_status call_row(tm_nsys_emitter *e, sqlite3_value **values, tm_error *err) {
    enum { CLASS = REST, CORRELATION, NAME, CHAIN };
    enum { DRIVER = 1, BACKTRACE = 67 };
    int64_t class = tm_db_int(values, CLASS, 0), correlation = tm_db_int(values, CORRELATION, 0);
    int64_t thread = tm_db_int(values, AT, 0);
    uint32_t row;
    if (tm_db_int(values, CHAIN, -1) >= 0 &&
        !tm_nsys_note_chain(e, correlation, tm_db_int(values, CHAIN, -1)))
        return tm_fail_memory(err);
    if (class == BACKTRACE) /* this row only adds a call stack to the call of another row */
        return TM_OK;
    tm_raw_event event = {.kind = TM_DURATION,
                          .category = class == DRIVER ? TM_CAT_DRIVER : TM_CAT_RUNTIME};
    TM_TRY(tm_nsys_string(e, tm_db_int(values, NAME, -1), true, &event.name, err));
    event.track = tm_nsys_track_of(e, TM_TRACK_CPU, tm_nsys_pid(thread), thread & 0xFFFFFF);
    TM_TRY(tm_nsys_add(e, values, event, &row, err));
    if (row == TM_NO_EVENT || correlation == 0)
        return TM_OK;
    const tm_launch_attr attr = {.correlation = correlation, .event = row};
    return tm_vec_append(&e->trace->attrs[TM_ATTR_LAUNCH], &attr, 1) ? TM_OK : tm_fail_memory(err);
}

/* Returns whether a row only marks that Nsight started or stopped tracing the OS runtime, cuDNN and
 * cuBLAS, OpenACC or OpenMP (ENUM_NSYS_EVENT_CLASS). */
static bool is_mark(int64_t class) {
    return (class >= 31 && class <= 36) || class == 45 || class == 46 || class == 79 || class == 80;
}

/* Makes an event from a row that has only a name, a thread and times: a call of the C library, the
 * kernel or cuDNN, or an OpenMP region. The event has the category of the current table. */
static tm_status range_row(tm_nsys_emitter *e, sqlite3_value **values, tm_error *err) {
    enum { NAME = REST, CLASS };
    int64_t thread = tm_db_int(values, AT, 0);
    uint32_t row;
    tm_raw_event event = {.kind = TM_DURATION, .category = e->category};
    if (is_mark(tm_db_int(values, CLASS, -1)))
        return TM_OK;
    TM_TRY(tm_nsys_string(e, tm_db_int(values, NAME, -1), false, &event.name, err));
    event.track = tm_nsys_track_of(e, TM_TRACK_CPU, tm_nsys_pid(thread), thread & 0xFFFFFF);
    return tm_nsys_add(e, values, event, &row, err);
}

#define ON_STREAM "start", "end", "globalPid", "deviceId", "streamId"
#define ON_THREAD "start", "end", "globalTid"
static const table_def tables[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     {ON_STREAM, "correlationId", "demangledName", "shortName", "registersPerThread", "gridX",
      "gridY", "gridZ", "blockX", "blockY", "blockZ", "staticSharedMemory", "dynamicSharedMemory"},
     kernel_row},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {ON_STREAM, "correlationId", "graphId"}, graph_row},
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     {ON_STREAM, "correlationId", "bytes", "copyKind", "srcKind", "dstKind", "virtualAddress"},
     copy_row},
    {"CUPTI_ACTIVITY_KIND_MEMSET", {ON_STREAM, "correlationId", "bytes", "memKind"}, set_row},
    {"CUPTI_ACTIVITY_KIND_CUDA_EVENT", {TM_NSYS_RECORD_COLUMNS}, tm_nsys_record_row},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", {TM_NSYS_WAIT_COLUMNS}, tm_nsys_wait_row},
    {"CUPTI_ACTIVITY_KIND_RUNTIME",
     {ON_THREAD, "eventClass", "correlationId", "nameId", "callchainId"},
     call_row},
    {"NVTX_EVENTS", {TM_NSYS_NVTX_COLUMNS}, tm_nsys_nvtx_row},
    {"MPI_P2P_EVENTS", {TM_NSYS_MPI_COLUMNS}, tm_nsys_mpi_row},
    {"MPI_COLLECTIVES_EVENTS", {TM_NSYS_MPI_COLUMNS}, tm_nsys_mpi_row},
    {"MPI_START_WAIT_EVENTS", {TM_NSYS_MPI_COLUMNS}, tm_nsys_mpi_row},
    {"MPI_OTHER_EVENTS", {TM_NSYS_MPI_COLUMNS}, tm_nsys_mpi_row},
    {"CUDA_GPU_MEMORY_USAGE_EVENTS", {TM_NSYS_MEMORY_COLUMNS}, tm_nsys_memory_row},
    {"CUDA_UM_CPU_PAGE_FAULT_EVENTS", {TM_NSYS_CPU_FAULT_COLUMNS}, tm_nsys_cpu_fault_row},
    {"CUDA_UM_GPU_PAGE_FAULT_EVENTS", {TM_NSYS_GPU_FAULT_COLUMNS}, tm_nsys_gpu_fault_row},
    {"SCHED_EVENTS", {TM_NSYS_SCHED_COLUMNS}, tm_nsys_sched_row},
};
#undef ON_STREAM
#undef ON_THREAD

/* Tables whose rows are ranges with a name and nothing else. */
static const struct {
    const char *name;
    tm_category category;
} ranges[] = {
    {"OSRT_API", TM_CAT_OS_RUNTIME},
    {"SYSCALL", TM_CAT_SYSCALL},
    {"CUDNN_EVENTS", TM_CAT_LIBRARY},
    {"CUBLAS_EVENTS", TM_CAT_LIBRARY},
    {"CUPTI_ACTIVITY_KIND_OPENACC_DATA", TM_CAT_OPENACC},
    {"CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH", TM_CAT_OPENACC},
    {"CUPTI_ACTIVITY_KIND_OPENACC_OTHER", TM_CAT_OPENACC},
    {"OPENMP_EVENT_KIND_CANCEL", TM_CAT_OPENMP},
    {"OPENMP_EVENT_KIND_CRITICAL_SECTION", TM_CAT_OPENMP},
    {"OPENMP_EVENT_KIND_DISPATCH", TM_CAT_OPENMP},
    {"OPENMP_EVENT_KIND_FLUSH", TM_CAT_OPENMP},
    {"OPENMP_EVENT_KIND_LOCK_DESTROY", TM_CAT_OPENMP},
    {"OPENMP_EVENT_KIND_LOCK_INIT", TM_CAT_OPENMP},
    {"OPENMP_EVENT_KIND_MASTER", TM_CAT_OPENMP},
    {"OPENMP_EVENT_KIND_MUTEX_RELEASED", TM_CAT_OPENMP},
    {"OPENMP_EVENT_KIND_MUTEX_WAIT", TM_CAT_OPENMP},
    {"OPENMP_EVENT_KIND_PARALLEL", TM_CAT_OPENMP},
    {"OPENMP_EVENT_KIND_REDUCTION", TM_CAT_OPENMP},
    {"OPENMP_EVENT_KIND_SYNC_REGION", TM_CAT_OPENMP},
    {"OPENMP_EVENT_KIND_SYNC_REGION_WAIT", TM_CAT_OPENMP},
    {"OPENMP_EVENT_KIND_TASK", TM_CAT_OPENMP},
    {"OPENMP_EVENT_KIND_TASK_CREATE", TM_CAT_OPENMP},
    {"OPENMP_EVENT_KIND_TASK_SCHEDULE", TM_CAT_OPENMP},
    {"OPENMP_EVENT_KIND_THREAD", TM_CAT_OPENMP},
    {"OPENMP_EVENT_KIND_WORKSHARE", TM_CAT_OPENMP},
};

enum { N_TABLES = sizeof tables / sizeof *tables, N_RANGES = sizeof ranges / sizeof *ranges };

static table_def def_of(int table) {
    return table < N_TABLES ? tables[table]
                            : (table_def){ranges[table - N_TABLES].name,
                                          {"start", "end", "globalTid", "nameId", "eventClass"},
                                          range_row};
}

/* Reports progress in bytes. To get bytes, the size of the file is multiplied by the share of rows
 * that were read. */
static void tell(const tm_nsys_emitter *e) {
    if (e->n_rows > 0 && e->n_done <= e->n_rows)
        tm_source_tell(e->source,
                       (int64_t)((double)e->db->size * (double)e->n_done / (double)e->n_rows));
}

/* A table, while its rows are added to the trace. */
typedef struct table_scan {
    tm_nsys_emitter *e;
    const table_def *def;
    bool by_thread;
} table_scan;

static tm_status take_row(void *context, sqlite3_value **values, tm_error *err) {
    enum { REPORTED_AFTER = 1 << 14 };
    const table_scan *s = context;
    int64_t at = tm_db_int(values, AT, 0), process = s->e->unit->process;
    if (++s->e->n_done % REPORTED_AFTER == 0)
        tell(s->e);
    /* If the export does not distinguish processes, the unit has process 0, and all rows belong to
     * it. */
    if (process != 0 && process != (s->by_thread ? at & TM_NSYS_PROCESS_MASK : at))
        return TM_OK;
    return s->def->row(s->e, values, err);
}

/* Reads a table. A file of many ranks is scanned once for each rank. To make this fast, SQLite
 * skips the rows of other processes, after decoding only their column with the process. */
static tm_status read_table(tm_nsys_emitter *e, const table_def *def, tm_error *err) {
    table_scan scan = {e, def, strcmp(def->columns[AT], "globalTid") == 0};
    tm_db_query query = {def->name, def->columns, 0, NULL, def->columns[AT]};
    while (def->columns[query.n_columns])
        query.n_columns++;
    if (e->unit->process != 0)
        query.where = scan.by_thread ? "globalTid BETWEEN ?1 AND ?1 + 16777215" : "globalPid = ?1";
    return tm_db_scan(e->db, &query, e->unit->process, take_row, &scan, err);
}

tm_status tm_nsys_emit_all(tm_nsys_emitter *e, tm_error *err) {
    int64_t n_passed = 0;
    for (int i = 0; i < N_TABLES + N_RANGES; i++)
        e->n_rows += tm_db_last_row(e->db, def_of(i).name);
    for (int i = 0; i < N_TABLES + N_RANGES; i++) {
        const table_def def = def_of(i);
        e->category = i < N_TABLES ? TM_CAT_OTHER : (uint8_t)ranges[i - N_TABLES].category;
        TM_TRY(read_table(e, &def, err));
        n_passed += tm_db_last_row(e->db, def.name);
        /* The rows of other processes count as done, too. */
        e->n_done = n_passed;
        tell(e);
    }
    TM_TRY(tm_nsys_add_mpi(e, err));
    TM_TRY(tm_nsys_add_running(e, err));
    TM_TRY(tm_nsys_add_counters(e, err));
    TM_TRY(tm_nsys_add_stacks(e, err));
    return tm_nsys_join_nccl(e->trace, e->names, e->unit, &e->ranges, err);
}
