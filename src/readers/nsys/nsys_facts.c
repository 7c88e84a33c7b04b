#include "nsys_facts.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nsys_sched.h"
#include "nsys_units.h"

/* A physical GPU and its CUDA ordinal. */
typedef struct ordinal {
    int64_t gpu, device;
} ordinal;

typedef struct facts {
    tm_nsys_emitter *e;
    cJSON *root, *list;
    tm_vec ordinals; /* vector of ordinal */
} facts;

static tm_status scan(const tm_nsys_emitter *e, const tm_db_query *query, tm_db_each *each,
                      void *context, tm_error *err) {
    return tm_db_scan(e->db, query, e->unit->process, each, context, err);
}

static tm_status take_ordinal(void *context, sqlite3_value **values, tm_error *err) {
    facts *f = context;
    const ordinal found = {tm_db_int(values, 0, -1), tm_db_int(values, 1, -1)};
    if (tm_db_int(values, 2, -1) != tm_nsys_pid(f->e->unit->process))
        return TM_OK;
    return tm_vec_append(&f->ordinals, &found, 1) ? TM_OK : tm_fail_memory(err);
}

enum { ID, CUDA, NAME, MEMORY, SMS, MAJOR, MINOR, N_GPU };

/* Returns the CUDA ordinal of a GPU in this process, or -1 if it has none. If the export lists no
 * ordinals, returns the CUDA id in the row. If the row has no CUDA id, returns the number of the
 * GPU in the machine. */
static int64_t device_of(const tm_vec *ordinals, sqlite3_value **values) {
    const ordinal *v = ordinals->data;
    int64_t gpu = tm_db_int(values, ID, -1);
    for (size_t i = 0; i < ordinals->n; i++)
        if (v[i].gpu == gpu)
            return v[i].device;
    return ordinals->n > 0 ? -1 : tm_db_int(values, CUDA, gpu);
}

static bool add_number(cJSON *object, const char *key, int64_t value) {
    /* The number is added as text, because cJSON stores numbers as doubles. */
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    return value < 0 || cJSON_AddRawToObject(object, key, text);
}

/* Adds a text as UTF-8. */
static bool add_text(tm_nsys_emitter *e, cJSON *object, const char *key, tm_text text) {
    uint32_t name = tm_nsys_intern(e, text);
    return name != TM_NAME_FAILED &&
           cJSON_AddStringToObject(object, key, tm_names_text(e->names, name).bytes);
}

static bool add_gpu(const facts *f, sqlite3_value **values) {
    tm_nsys_emitter *e = f->e;
    const tm_nsys_device device = {device_of(&f->ordinals, values), tm_db_int(values, SMS, -1)};
    cJSON *gpu = device.device >= 0 ? cJSON_CreateObject() : NULL;
    if (!gpu)
        return device.device < 0;
    cJSON_AddItemToArray(f->list, gpu);
    return add_number(gpu, "id", device.device) &&
           add_text(e, gpu, "name", tm_db_text(values[NAME])) &&
           add_number(gpu, "totalGlobalMem", tm_db_int(values, MEMORY, -1)) &&
           add_number(gpu, "computeMajor", tm_db_int(values, MAJOR, -1)) &&
           add_number(gpu, "computeMinor", tm_db_int(values, MINOR, -1)) &&
           add_number(gpu, "numSms", device.sms) && tm_vec_append(&e->devices, &device, 1);
}

static tm_status take_gpu(void *context, sqlite3_value **values, tm_error *err) {
    return add_gpu(context, values) ? TM_OK : tm_fail_memory(err);
}

static tm_status read_gpus(facts *f, tm_error *err) {
    static const char *const columns[N_GPU] = {
        "id", "cuDevice", "name", "totalMemory", "smCount", "computeMajor", "computeMinor"};
    static const char *const numbers[] = {"gpuId", "cudaId", "pid"};
    const tm_db_query ordinals = {"TARGET_INFO_CUDA_DEVICE", numbers, 3, NULL, NULL};
    const tm_db_query gpus = {"TARGET_INFO_GPU", columns, N_GPU, NULL, NULL};
    f->list = cJSON_AddArrayToObject(f->root, "deviceProperties");
    if (!f->list)
        return tm_fail_memory(err);
    TM_TRY(scan(f->e, &ordinals, take_ordinal, f, err));
    return scan(f->e, &gpus, take_gpu, f, err);
}

/* Adds a warning or error of the profiler if it is about this process, or about no process. */
static tm_status take_diagnostic(void *context, sqlite3_value **values, tm_error *err) {
    facts *f = context;
    int64_t process = tm_db_int(values, 1, 0);
    if (tm_nsys_pid(process) != 0 && process != f->e->unit->process)
        return TM_OK;
    uint32_t name = tm_nsys_intern(f->e, tm_db_text(values[0]));
    cJSON *text =
        name != TM_NAME_FAILED ? cJSON_CreateString(tm_names_text(f->e->names, name).bytes) : NULL;
    if (!text)
        return tm_fail_memory(err);
    cJSON_AddItemToArray(f->list, text);
    f->e->trace->counts[TM_COUNT_DIAGNOSTIC]++;
    return TM_OK;
}

static tm_status read_diagnostics(facts *f, tm_error *err) {
    static const char *const columns[] = {"text", "globalPid"};
    const tm_db_query query = {"DIAGNOSTIC_EVENT", columns, 2, "severity IN (2, 3)", "severity"};
    f->list = cJSON_AddArrayToObject(f->root, "diagnostics");
    return f->list ? scan(f->e, &query, take_diagnostic, f, err) : tm_fail_memory(err);
}

static tm_status take_version(void *context, sqlite3_value **values, tm_error *err) {
    const facts *f = context;
    return add_text(f->e, f->root, "nsysSchemaVersion", tm_db_text(values[0]))
               ? TM_OK
               : tm_fail_memory(err);
}

static tm_status read_schema_version(facts *f, tm_error *err) {
    static const char *const column[] = {"value"};
    static const char *const tables[] = {"META_DATA_EXPORT", "EXPORT_META_DATA"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const tm_db_query query = {tables[i], column, 1, "name = 'EXPORT_SCHEMA_VERSION'", "name"};
        TM_TRY(scan(f->e, &query, take_version, f, err));
    }
    return TM_OK;
}

static tm_status read_host(tm_nsys_emitter *e, tm_error *err) {
    tm_vec host;
    tm_status status = tm_nsys_read_host(e->db, &host, err);
    if (status == TM_OK && host.n > 0) {
        e->trace->host = tm_nsys_intern(e, (tm_text){host.data, host.n});
        if (e->trace->host == TM_NAME_FAILED)
            status = tm_fail_memory(err);
    }
    tm_vec_free(&host);
    return status;
}

tm_status tm_nsys_read_facts(tm_nsys_emitter *e, tm_error *err) {
    facts f = {.e = e, .root = cJSON_CreateObject(), .ordinals = TM_VEC(ordinal)};
    tm_status status = f.root ? read_host(e, err) : tm_fail_memory(err);
    if (status == TM_OK && !cJSON_AddStringToObject(f.root, "reported_by", "nsys stats"))
        status = tm_fail_memory(err); /* TM_REPORTED_BY reads this */
    if (status == TM_OK)
        status = read_schema_version(&f, err);
    if (status == TM_OK)
        status = read_gpus(&f, err);
    if (status == TM_OK)
        status = read_diagnostics(&f, err);
    char *text = status == TM_OK ? cJSON_PrintUnformatted(f.root) : NULL;
    if (status == TM_OK) {
        e->trace->metadata = text ? tm_names_intern_string(e->names, text) : TM_NAME_FAILED;
        if (e->trace->metadata == TM_NAME_FAILED)
            status = tm_fail_memory(err);
    }
    cJSON_free(text);
    cJSON_Delete(f.root);
    tm_vec_free(&f.ordinals);
    return status;
}

static tm_status take_process_name(void *context, sqlite3_value **values, tm_error *err) {
    tm_nsys_emitter *e = context;
    uint32_t name = tm_nsys_intern(e, tm_db_text(values[0]));
    tm_track *tracks = e->trace->tracks.data;
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, tm_nsys_pid(e->unit->process));
    uint32_t pid = tm_names_intern_string(e->names, number);
    for (size_t i = 0; i < e->trace->tracks.n; i++)
        if (tracks[i].kind == TM_TRACK_CPU && tracks[i].pid == pid) /* excludes network cards */
            tracks[i].process_name = name;
    return name != TM_NAME_FAILED && pid != TM_NAME_FAILED ? TM_OK : tm_fail_memory(err);
}

/* A thread has a row for each name that it had; the last name is used. */
static tm_status take_thread_name(void *context, sqlite3_value **values, tm_error *err) {
    tm_nsys_emitter *e = context;
    int64_t thread = tm_db_int(values, 1, 0);
    size_t known = e->trace->tracks.n;
    uint32_t name;
    TM_TRY(tm_nsys_string(e, tm_db_int(values, 0, -1), false, &name, err));
    uint32_t index = tm_nsys_track_of(e, TM_TRACK_CPU, tm_nsys_pid(thread), thread & 0xFFFFFF);
    if (index == UINT32_MAX)
        return tm_fail_memory(err);
    if (index >= known) /* a thread without events gets no track */
        e->trace->tracks.n = known;
    else
        ((tm_track *)e->trace->tracks.data)[index].thread_name = name;
    index = tm_nsys_running_track(e, thread, false);
    if (index != UINT32_MAX)
        ((tm_track *)e->trace->tracks.data)[index].thread_name = name;
    return TM_OK;
}

tm_status tm_nsys_name_tracks(tm_nsys_emitter *e, tm_error *err) {
    static const char *const process[] = {"name"}, *const thread[] = {"nameId", "globalTid"};
    const tm_db_query processes = {"PROCESSES", process, 1, "globalPid = ?1", "globalPid"};
    const tm_db_query threads = {"ThreadNames", thread, 2, "(globalTid & -16777216) = ?1",
                                 "globalTid"};
    TM_TRY(scan(e, &processes, take_process_name, e, err));
    return scan(e, &threads, take_thread_name, e, err);
}
