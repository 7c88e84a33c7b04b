/* rocmProfileData (RPD): the databases of rpd_tracer, on ROCm or CUDA. The databases hold a subset
 * of rocprofv3's records. This reader passes them through the same tables. */
#include "readers/formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "readers/rocpd/rocpd_rows.h"
#include "readers/rocprof/rocprof_units.h"
#include "rpd_launches.h"

typedef enum operation {
    UNKNOWN,
    KERNEL,
    FILL,
    COPY,
    /* A copy that rocprofiler recorded. rocprofiler gives 0 as the GPU and queue of all copies, so
     * both are unknown. */
    COPY_NOWHERE
} operation;

/* Handles of agents that are not GPUs. The handle of a GPU is its number. */
static const uint64_t host_agent = UINT64_MAX, unknown_agent = UINT64_MAX - 1;

/* A GPU that a process used, and the type of the operations on this GPU. If the operations have no
 * call, pid is INT64_MIN. */
typedef struct use {
    int64_t pid, gpu, type; /* type: id of the string that names the type */
    operation what;
} use;

typedef struct process {
    int64_t pid;
    int64_t first_gpu; /* lowest GPU on which the process computes; INT64_MAX: none */
    bool one_gpu;      /* whether the process computes on at most one GPU */
} process;

typedef struct document {
    tm_db db;
    tm_source *source; /* `source` and `sink` are borrowed */
    const tm_rocprof_sink *sink;
    tm_rocprof_tables tables;
    tm_rocpd_strings strings;
    /* In a file of several hosts, the GPU numbers of host h start at h * gpu_stride, and its
     * process numbers at h * pid_stride. */
    int64_t gpu_stride, pid_stride;
    bool several_hosts;
    /* has_shapes: the file shows which profiler wrote the grids, so their unit is known. in_blocks:
     * this profiler usually writes grids in blocks. */
    bool has_shapes, in_blocks;
    int64_t mark;           /* number of the string that names markers without duration */
    tm_vec uses, processes; /* `uses` has elements of type use, `processes` of type process */
    tm_rpd_launches launches;
    const process *process; /* the current one */
    /* to report progress: approximate number of rows, and rows read so far */
    int64_t n_rows, n_done;
} document;

/* Whether the file at a path is a database of rocmProfileData, which has RPD's tables. (rocpd's
 * tables have the same names with a suffix.) Also false if the file cannot be read. */
static bool accepts(const char *path) {
    bool calls = false, operations = false;
    tm_db db;
    if (tm_db_open(path, &db, NULL) != TM_OK)
        return false;
    bool is = tm_db_has_table(&db, "rocpd_api", &calls, NULL) == TM_OK &&
              tm_db_has_table(&db, "rocpd_op", &operations, NULL) == TM_OK && calls && operations;
    tm_db_close(&db);
    return is;
}

static bool is(const document *d, int64_t string, const char *word) {
    return tm_rocprof_is(&d->tables, tm_rocpd_text(&d->strings, string), word);
}

static bool begins(const document *d, int64_t string, const char *word) {
    return tm_rocprof_begins(&d->tables, tm_rocpd_text(&d->strings, string), word);
}

static bool holds(const document *d, int64_t string, const char *word) {
    return tm_rocprof_holds(&d->tables, tm_rocpd_text(&d->strings, string), word);
}

/* Classifies the names of HIP commands, rocprofiler operations and CUPTI records. "Task" is a
 * kernel that a graph launched. */
static operation operation_of(const document *d, int64_t type) {
    if (is(d, type, "KernelExecution") || is(d, type, "Task"))
        return KERNEL;
    if (is(d, type, "FillBuffer") || is(d, type, "Memset"))
        return FILL;
    if (begins(d, type, "MEMORY_COPY"))
        return COPY_NOWHERE;
    return begins(d, type, "Copy") || is(d, type, "Memcpy") ? COPY : UNKNOWN;
}

static tm_status each_metadata(void *context, sqlite3_value **values, tm_error *err) {
    document *d = context;
    const char *tag = tm_db_text(values[0]).bytes;
    /* If the value is a text, this is the number at its start. */
    int64_t value = sqlite3_value_int64(values[1]);
    if (strcmp(tag, "gpu_stride") == 0 && value > 0)
        d->gpu_stride = value;
    else if (strcmp(tag, "pid_stride") == 0 && value > 0)
        d->pid_stride = value;
    else if (strcmp(tag, "schema_version") == 0 && (value < 0 || value > 3))
        return tm_fail(err, TM_ERR_INPUT, d->db.path, -1,
                       "the schema of this rocmProfileData database is version %" PRId64
                       ", but tmerge reads 1 to 3",
                       value);
    return TM_OK;
}

TM_ORDER_BY(by_gpu, process, first_gpu, pid);

static bool add_use(document *d, int64_t pid, int64_t gpu, int64_t type) {
    const use *v = d->uses.data;
    for (size_t i = 0; i < d->uses.n; i++)
        if (v[i].pid == pid && v[i].gpu == gpu && v[i].type == type)
            return true;
    const use added = {pid, gpu, type, operation_of(d, tm_rocpd_string(&d->strings, type))};
    return tm_vec_append(&d->uses, &added, 1) != NULL;
}

static int64_t pid_of(const document *d, int64_t call) {
    const tm_rpd_call *found = tm_rpd_call_of(&d->launches, call);
    return found ? found->pid : INT64_MIN;
}

static tm_status each_use(void *context, sqlite3_value **values, tm_error *err) {
    document *d = context;
    int64_t gpu = tm_db_int(values, 1, 0), type = tm_db_int(values, 2, -1);
    size_t n;
    const tm_rpd_launch *v = tm_rpd_launches_of(&d->launches, tm_db_int(values, 0, -1), &n);
    bool ok = n > 0 || add_use(d, INT64_MIN, gpu, type);
    for (size_t i = 0; i < n && ok; i++)
        ok = add_use(d, pid_of(d, v[i].call), gpu, type);
    return ok ? TM_OK : tm_fail_memory(err);
}

static tm_status each_process(void *context, sqlite3_value **values, tm_error *err) {
    document *d = context;
    process found = {.pid = tm_db_int(values, 0, 0), .first_gpu = INT64_MAX, .one_gpu = true};
    const use *v = d->uses.data;
    for (size_t i = 0; i < d->uses.n; i++) {
        if (v[i].pid != found.pid || v[i].what != KERNEL)
            continue;
        found.one_gpu &= found.first_gpu == INT64_MAX || found.first_gpu == v[i].gpu;
        found.first_gpu = v[i].gpu < found.first_gpu ? v[i].gpu : found.first_gpu;
    }
    d->several_hosts |= found.pid >= d->pid_stride;
    return tm_vec_append(&d->processes, &found, 1) ? TM_OK : tm_fail_memory(err);
}

/* Reads which process uses which GPU, and sorts the processes by their first GPU. If there are no
 * calls, there is one process. */
static tm_status read_processes(document *d, tm_error *err) {
    const process nobody = {.pid = INT64_MIN, .first_gpu = INT64_MAX, .one_gpu = false};
    TM_TRY(tm_db_select(
        &d->db, &(tm_db_statement){"SELECT take_row(id, gpuId, opType_id) FROM rocpd_op", 3, 0},
        each_use, d, err));
    TM_TRY(tm_db_select(
        &d->db,
        &(tm_db_statement){"SELECT take_row(pid) FROM (SELECT DISTINCT pid FROM rocpd_api)", 1, 0},
        each_process, d, err));
    if (d->processes.n == 0 && !tm_vec_append(&d->processes, &nobody, 1))
        return tm_fail_memory(err);
    tm_vec_sort(&d->processes, by_gpu);
    return TM_OK;
}

/* Returns the process that an operation without a call belongs to: the first process that computes
 * on its GPU. */
static const process *owner_of(const document *d, int64_t gpu) {
    const process *v = d->processes.data;
    const use *u = d->uses.data;
    for (size_t i = 0; i < d->processes.n; i++)
        for (size_t k = 0; k < d->uses.n; k++)
            if (u[k].pid == v[i].pid && u[k].gpu == gpu && u[k].what == KERNEL)
                return &v[i];
    return v;
}

/* Makes kernel i from string i, because names of kernels are strings. */
static bool add_kernels(document *d) {
    const tm_rocprof_text *v = d->tables.operations.data;
    for (size_t i = 0; i < d->tables.operations.n; i++) {
        const tm_rocprof_entry kernel = {.id = i, .text = v[i], .registers = -1};
        if (!tm_vec_append(&d->tables.kernels.entries, &kernel, 1))
            return false;
    }
    d->tables.kernels.sorted = true;
    return true;
}

static bool add_agents(document *d) {
    const tm_rocprof_agent host = {
        .handle = host_agent, .device = -1, .units = -1, .wave = -1, .bytes = -1};
    const use *v = d->uses.data;
    if (!tm_vec_append(&d->tables.agents, &host, 1))
        return false;
    for (size_t i = 0; i < d->uses.n; i++) {
        tm_rocprof_agent gpu = host;
        gpu.handle = (uint64_t)v[i].gpu;
        gpu.device = v[i].gpu % d->gpu_stride;
        gpu.gpu = true;
        if (!tm_rocprof_agent_of(&d->tables, gpu.handle) &&
            !tm_vec_append(&d->tables.agents, &gpu, 1))
            return false;
    }
    return true;
}

/* Determines whether grids are in work items or in blocks. rocprofiler records work items. Other
 * profilers record the blocks of HIP and CUDA calls. */
static void find_writer(document *d) {
    bool items = false, blocks = false;
    for (int64_t i = 0; i < (int64_t)d->strings.ids.n; i++) {
        items |= is(d, i, "RocprofDataSource::buffer_callback");
        blocks |= is(d, i, "hcc_activity_callback") || is(d, i, "cuda");
    }
    d->has_shapes = items != blocks;
    d->in_blocks = blocks;
}

static tm_status read_tables(document *d, tm_error *err) {
    tm_rocpd_strings_free(&d->strings);
    tm_rocprof_tables_clear(&d->tables);
    TM_TRY(tm_rocpd_read_strings(
        &d->db,
        "SELECT take_row(id, string) FROM (SELECT id, string FROM rocpd_string ORDER BY id)",
        &d->tables, &d->strings, err));
    find_writer(d);
    d->mark = tm_rocpd_add_string(&d->strings, "roctxMark");
    return d->mark >= 0 && add_kernels(d) ? TM_OK : tm_fail_memory(err);
}

static tm_status give(document *d, tm_rocprof_list list, const tm_rocprof_record *record,
                      tm_error *err) {
    enum { REPORTED_AFTER = 1 << 14 };
    if (++d->n_done % REPORTED_AFTER == 0 && d->n_done <= d->n_rows)
        tm_source_tell(d->source,
                       (int64_t)((double)d->db.size * (double)d->n_done / (double)d->n_rows));
    return d->sink->record(d->sink->context, &d->tables, list, record) ? TM_OK
                                                                       : tm_fail_memory(err);
}

/* Sets the agents of a copy from the name of its operation. Both agents may be the same. */
static void put_ends(document *d, int64_t type, operation what, uint64_t gpu,
                     tm_rocprof_record *record) {
    if (what == COPY_NOWHERE) {
        record->present &= ~(UINT32_C(1) << R_QUEUE);
        gpu = d->process->one_gpu && d->process->first_gpu != INT64_MAX
                  ? (uint64_t)d->process->first_gpu
                  : unknown_agent;
    }
    bool to_host = holds(d, type, "ToHost") || holds(d, type, "TO_HOST");
    bool from_host = holds(d, type, "HostTo") || holds(d, type, "HOST_TO");
    bool from_device = holds(d, type, "DeviceTo") || holds(d, type, "DEVICE_TO");
    tm_rocpd_put(record, R_TO, to_host ? host_agent : gpu);
    if (from_host || from_device) /* if neither is set, the source of the copy is unknown */
        tm_rocpd_put(record, R_FROM, from_host ? host_agent : gpu);
}

/* Converts a grid in blocks to a grid in work items. */
static void put_shape(const document *d, int64_t call, tm_rocprof_record *record) {
    bool items = !d->in_blocks || is(d, call, "hipExtModuleLaunchKernel") ||
                 is(d, call, "hipHccModuleLaunchKernel");
    for (int i = 0; i < 3; i++) {
        tm_rocprof_field grid = (tm_rocprof_field)(R_GRID_X + i);
        int64_t size = tm_rocprof_int(record, grid, -1);
        int64_t block = tm_rocprof_int(record, (tm_rocprof_field)(R_BLOCK_X + i), -1);
        if (!d->has_shapes || size < 0 || size > INT32_MAX || block < 0 || block > INT32_MAX)
            record->present &= ~(UINT32_C(1) << grid);
        else if (!items)
            record->fields[grid] = (uint64_t)(size * block);
    }
}

enum { ID, GPU, TYPE, DESCRIPTION };
static const uint8_t operation_fields[] = {
    TM_ROCPD_EXTRA, TM_ROCPD_EXTRA, TM_ROCPD_NAME, TM_ROCPD_EXTRA, R_QUEUE, R_BEGIN, R_END};

/* Whether an operation belongs to the current process. Sets *call to the call that launched the
 * operation, or to NULL. */
static bool is_own(const document *d, int64_t id, int64_t gpu, const tm_rpd_call **call) {
    size_t n;
    const tm_rpd_launch *v = tm_rpd_launches_of(&d->launches, id, &n);
    *call = NULL;
    for (size_t i = 0; i < n; i++) {
        *call = tm_rpd_call_of(&d->launches, v[i].call);
        int64_t pid = *call ? (*call)->pid : INT64_MIN;
        if (pid == d->process->pid || (pid == INT64_MIN && owner_of(d, gpu) == d->process))
            return true;
    }
    return n == 0 && owner_of(d, gpu) == d->process;
}

static tm_status each_operation(void *context, sqlite3_value **values, tm_error *err) {
    document *d = context;
    tm_rocprof_record record;
    const tm_rpd_call *call;
    int64_t id = tm_db_int(values, ID, -1), gpu = tm_db_int(values, GPU, 0);
    if (!is_own(d, id, gpu, &call))
        return TM_OK;
    tm_rocpd_record(&d->strings, operation_fields, sizeof operation_fields, values, &record);
    if (call)
        tm_rpd_describe(&d->launches, call, &record);
    int64_t type = tm_rocprof_int(&record, R_OPERATION, -1);
    int64_t name = tm_rocpd_string(&d->strings, tm_db_int(values, DESCRIPTION, -1));
    operation what = operation_of(d, type);
    if (what == COPY || what == COPY_NOWHERE) {
        put_ends(d, type, what, (uint64_t)gpu, &record);
        return give(d, L_COPY, &record, err);
    }
    /* skip an operation whose type is unknown, unless it has the name of a kernel */
    if (what == UNKNOWN && (name < 0 || is(d, name, ""))) {
        if (d->sink->counts)
            d->sink->counts[TM_COUNT_OTHER_PHASE]++;
        return TM_OK;
    }
    if (what == FILL || name < 0 || is(d, name, ""))
        name = type;
    tm_rocpd_put(&record, R_AGENT, (uint64_t)gpu);
    if (name >= 0)
        tm_rocpd_put(&record, R_KERNEL, (uint64_t)name);
    put_shape(d, tm_rocpd_string(&d->strings, call ? call->name : -1), &record);
    return give(d, L_DISPATCH, &record, err);
}

/* Removes the offset of the host from a thread id. Process ids have the same offset. */
static void put_thread(const document *d, tm_rocprof_record *record) {
    if (tm_rocprof_has(record, R_THREAD))
        record->fields[R_THREAD] %= (uint64_t)d->pid_stride;
}

static tm_status each_call(void *context, sqlite3_value **values, tm_error *err) {
    static const uint8_t fields[] = {TM_ROCPD_NAME, R_BEGIN, R_END, R_CORRELATION, R_THREAD};
    document *d = context;
    tm_rocprof_record record;
    tm_rocpd_record(&d->strings, fields, sizeof fields, values, &record);
    int64_t name = tm_rocprof_int(&record, R_OPERATION, -1);
    put_thread(d, &record);
    return give(d, begins(d, name, "hip") || begins(d, name, "cuda") ? L_HIP : L_OTHER, &record,
                err);
}

static tm_status each_marker(void *context, sqlite3_value **values, tm_error *err) {
    static const uint8_t fields[] = {TM_ROCPD_EXTRA, TM_ROCPD_NAME, R_BEGIN,
                                     R_END,          R_CORRELATION, R_THREAD};
    document *d = context;
    tm_rocprof_record record;
    tm_text text = tm_db_text(values[0]);
    tm_rocpd_record(&d->strings, fields, sizeof fields, values, &record);
    if (tm_rocprof_has(&record, R_BEGIN) && tm_rocprof_has(&record, R_END) &&
        record.fields[R_BEGIN] == record.fields[R_END])
        tm_rocpd_put_name(&record, d->mark);
    put_thread(d, &record);
    return tm_rocpd_put_marker(&d->tables, &record, text.bytes, text.size)
               ? give(d, L_MARKER, &record, err)
               : tm_fail_memory(err);
}

#define MARKERS " IN (SELECT id FROM rocpd_string WHERE string = 'UserMarker')"

static tm_status read_calls(document *d, tm_error *err) {
    char sql[512];
    bool has = false; /* since version 3, the texts of arguments have been in a separate table */
    TM_TRY(tm_db_has_table(&d->db, "rocpd_ustring", &has, err));
    TM_TRY(tm_db_select(
        &d->db,
        &(tm_db_statement){"SELECT take_row(apiName_id, start, \"end\", id, tid) FROM rocpd_api "
                           "WHERE pid = ?1 AND apiName_id NOT" MARKERS,
                           5, d->process->pid},
        each_call, d, err));
    snprintf(
        sql, sizeof sql,
        "SELECT take_row(U.string, A.apiName_id, A.start, A.\"end\", A.id, A.tid) FROM "
        "rocpd_api A LEFT JOIN %s U ON U.id = A.args_id WHERE A.pid = ?1 AND A.apiName_id" MARKERS,
        has ? "rocpd_ustring" : "rocpd_string");
    return tm_db_select(&d->db, &(tm_db_statement){sql, 6, d->process->pid}, each_marker, d, err);
}

static tm_status read_operations(document *d, tm_error *err) {
    return tm_db_select(
        &d->db,
        &(tm_db_statement){"SELECT take_row(id, gpuId, opType_id, description_id, queueId, start, "
                           "\"end\") FROM rocpd_op",
                           sizeof operation_fields, 0},
        each_operation, d, err);
}

/* Passes one record for each GPU that the process uses and each type of operation on it. This is
 * for a sink that sets devices_alone. */
static tm_status tell_devices(document *d, tm_error *err) {
    const use *v = d->uses.data;
    for (size_t i = 0; i < d->uses.n; i++) {
        tm_rocprof_record record = {.present = 0};
        bool own = v[i].pid == d->process->pid ||
                   (v[i].pid == INT64_MIN && owner_of(d, v[i].gpu) == d->process);
        bool copies = v[i].what == COPY;
        if (!own || v[i].what == COPY_NOWHERE)
            continue;
        tm_rocpd_put(&record, copies ? R_TO : R_AGENT, (uint64_t)v[i].gpu);
        TM_TRY(give(d, copies ? L_COPY : L_DISPATCH, &record, err));
    }
    return TM_OK;
}

/* Sets the process id, and the host if there are several. The database has no names of hosts, so
 * they are numbered. The times of each host count from the start of that host. */
static bool name_host(document *d) {
    char host[40];
    tm_rocprof_tables *t = &d->tables;
    int64_t pid = d->process->pid;
    t->pid = pid < 0 ? -1 : pid % d->pid_stride;
    int n = snprintf(host, sizeof host, "node %" PRId64, pid < 0 ? 0 : pid / d->pid_stride);
    return !d->several_hosts || tm_rocprof_keep(t, host, (size_t)n, &t->host);
}

static tm_status read_process(document *d, int64_t number, tm_error *err) {
    if (number > 0)
        TM_TRY(read_tables(d, err));
    if (!name_host(d) || !add_agents(d))
        return tm_fail_memory(err);
    if (d->sink->devices_alone) {
        TM_TRY(tell_devices(d, err));
    } else {
        TM_TRY(read_operations(d, err));
        TM_TRY(read_calls(d, err));
    }
    return d->sink->end(d->sink->context, &d->tables, number) ? TM_OK : tm_fail_memory(err);
}

static tm_status read_all(document *d, tm_error *err) {
    bool has = false;
    TM_TRY(tm_db_has_table(&d->db, "rocpd_metadata", &has, err));
    if (has)
        TM_TRY(tm_db_select(
            &d->db, &(tm_db_statement){"SELECT take_row(tag, value) FROM rocpd_metadata", 2, 0},
            each_metadata, d, err));
    TM_TRY(read_tables(d, err));
    TM_TRY(tm_rpd_launches_read(&d->launches, &d->db, err));
    TM_TRY(read_processes(d, err));
    if (!d->sink->devices_alone)
        TM_TRY(tm_rpd_descriptions_read(&d->launches, &d->db, err));
    d->n_rows = tm_db_last_row(&d->db, "rocpd_api_ops") * 2;
    const process *v = d->processes.data;
    for (size_t i = 0; i < d->processes.n; i++) {
        d->process = &v[i];
        if (d->sink->process < 0 || d->sink->process == (int64_t)i)
            TM_TRY(read_process(d, (int64_t)i, err));
    }
    return TM_OK;
}

/* Implements tm_rocprof_document for rocmProfileData. */
static tm_status read_document(tm_source *source, const tm_rocprof_sink *sink, bool *cut,
                               tm_error *err) {
    document *d = calloc(1, sizeof *d);
    *cut = false;
    if (!d)
        return tm_fail_memory(err);
    d->source = source;
    d->sink = sink;
    d->gpu_stride = d->pid_stride = INT64_MAX;
    d->uses = TM_VEC(use);
    d->processes = TM_VEC(process);
    d->strings.ids = TM_VEC(int64_t);
    tm_rpd_launches_init(&d->launches);
    tm_rocprof_tables_init(&d->tables);
    tm_status status = tm_db_open(tm_source_path(source), &d->db, err);
    if (status == TM_OK)
        status = read_all(d, err);
    tm_db_close(&d->db);
    tm_rocpd_strings_free(&d->strings);
    tm_rocprof_tables_free(&d->tables);
    tm_rpd_launches_free(&d->launches);
    tm_vec_free(&d->uses);
    tm_vec_free(&d->processes);
    free(d);
    return status;
}

static tm_status rpd_list_units(tm_source *source, bool known, tm_vec *units, bool *foreign,
                                tm_error *err) {
    (void)known;
    *foreign = false;
    return tm_rocprof_list_units(read_document, source, units, err);
}

static tm_status rpd_read_unit(tm_source *source, const tm_unit *unit, tm_names *names,
                               tm_trace *out, tm_error *err) {
    return tm_rocprof_read_unit(read_document, source, unit, names, out, err);
}

static tm_status rpd_read(tm_source *source, tm_names *names, tm_trace *out, tm_error *err) {
    return rpd_read_unit(source, NULL, names, out, err);
}

const tm_format tm_format_rpd = {
    .name = "rpd",
    .summary = "rocmProfileData databases (rpd_tracer, runTracer.sh; .rpd)",
    .cannot_tell = "Times count from the start of each host. Hosts are not named: give --host-map "
                   "if the job has several. The group and size of collectives are not recorded; "
                   "sizes of copies are recorded modulo 4 GiB.",
    .by_path = true,
    .sniff = tm_db_sniff,
    .accepts = accepts,
    .read = rpd_read,
    .list_units = rpd_list_units,
    .read_unit = rpd_read_unit,
    .richer = "torch.profiler",
};
