#include "nsys_facts.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nsys_units.h"

/* A physical GPU and its number in CUDA. */
typedef struct ordinal {
    int64_t gpu, device;
} ordinal;

/* Begins a scan of whole rows, one after another; see next_row. */
static tm_status begin(const tm_nsys_emitter *e, const tm_nsys_query *query, sqlite3_stmt **scan,
                       tm_error *err) {
    return tm_nsys_select(e->db, query, e->unit->process, scan, err);
}

static tm_status read_ordinals(const tm_nsys_emitter *e, tm_vec *out, tm_error *err) {
    static const char *const columns[] = {"gpuId", "cudaId", "pid"};
    const tm_nsys_query query = {"TARGET_INFO_CUDA_DEVICE", columns, 3, NULL, NULL};
    sqlite3_stmt *scan;
    bool row = true;
    TM_TRY(begin(e, &query, &scan, err));
    tm_status status = tm_nsys_step(e->db, scan, &row, err);
    while (status == TM_OK && row) {
        const ordinal found = {tm_nsys_int(scan, 0, -1), tm_nsys_int(scan, 1, -1)};
        if (tm_nsys_int(scan, 2, -1) == tm_nsys_pid(e->unit->process) &&
            !tm_vec_append(out, &found, 1))
            status = tm_fail_memory(err);
        else
            status = tm_nsys_step(e->db, scan, &row, err);
    }
    sqlite3_finalize(scan);
    return status;
}

enum { ID, CUDA, NAME, MEMORY, SMS, MAJOR, MINOR, N_GPU };

/* The GPU's number for this process; without a table of them that of the machine's order. */
static int64_t device_of(const tm_vec *ordinals, sqlite3_stmt *scan) {
    const ordinal *v = ordinals->data;
    int64_t gpu = tm_nsys_int(scan, ID, -1);
    for (size_t i = 0; i < ordinals->n; i++)
        if (v[i].gpu == gpu)
            return v[i].device;
    return ordinals->n > 0 ? -1 : tm_nsys_int(scan, CUDA, gpu);
}

static bool add_number(cJSON *object, const char *key, int64_t value) {
    char text[24]; /* raw: cJSON keeps numbers as doubles */
    snprintf(text, sizeof text, "%" PRId64, value);
    return value < 0 || cJSON_AddRawToObject(object, key, text);
}

/* The text as the names have it: UTF-8. */
static bool add_text(tm_nsys_emitter *e, cJSON *object, const char *key, tm_text text) {
    uint32_t name = tm_nsys_intern(e, text);
    return name != TM_NAME_FAILED &&
           cJSON_AddStringToObject(object, key, tm_names_text(e->names, name).bytes);
}

static bool add_gpu(tm_nsys_emitter *e, const tm_vec *ordinals, sqlite3_stmt *scan, cJSON *list) {
    const tm_nsys_device device = {device_of(ordinals, scan), tm_nsys_int(scan, SMS, -1)};
    cJSON *gpu = device.device >= 0 ? cJSON_CreateObject() : NULL;
    if (!gpu)
        return device.device < 0;
    cJSON_AddItemToArray(list, gpu);
    return add_number(gpu, "id", device.device) &&
           add_text(e, gpu, "name", tm_nsys_text(scan, NAME)) &&
           add_number(gpu, "totalGlobalMem", tm_nsys_int(scan, MEMORY, -1)) &&
           add_number(gpu, "computeMajor", tm_nsys_int(scan, MAJOR, -1)) &&
           add_number(gpu, "computeMinor", tm_nsys_int(scan, MINOR, -1)) &&
           add_number(gpu, "numSms", device.sms) && tm_vec_append(&e->devices, &device, 1);
}

static tm_status read_gpus(tm_nsys_emitter *e, cJSON *root, tm_error *err) {
    static const char *const columns[N_GPU] = {
        "id", "cuDevice", "name", "totalMemory", "smCount", "computeMajor", "computeMinor"};
    const tm_nsys_query query = {"TARGET_INFO_GPU", columns, N_GPU, NULL, NULL};
    sqlite3_stmt *scan;
    bool row = true;
    tm_vec ordinals = TM_VEC(ordinal);
    cJSON *list = cJSON_AddArrayToObject(root, "deviceProperties");
    tm_status status = list ? read_ordinals(e, &ordinals, err) : tm_fail_memory(err);
    if (status == TM_OK)
        status = begin(e, &query, &scan, err);
    if (status != TM_OK) {
        tm_vec_free(&ordinals);
        return status;
    }
    status = tm_nsys_step(e->db, scan, &row, err);
    while (status == TM_OK && row)
        status = add_gpu(e, &ordinals, scan, list) ? tm_nsys_step(e->db, scan, &row, err)
                                                   : tm_fail_memory(err);
    sqlite3_finalize(scan);
    tm_vec_free(&ordinals);
    return status;
}

/* Warnings and errors of the profiler, of this process or of none. */
static tm_status read_diagnostics(tm_nsys_emitter *e, cJSON *root, tm_error *err) {
    static const char *const columns[] = {"severity", "text", "globalPid"};
    const tm_nsys_query query = {"DIAGNOSTIC_EVENT", columns, 3, "severity IN (2, 3)", "severity"};
    sqlite3_stmt *scan;
    bool row = true;
    cJSON *list = cJSON_AddArrayToObject(root, "diagnostics");
    if (!list)
        return tm_fail_memory(err);
    TM_TRY(begin(e, &query, &scan, err));
    tm_status status = tm_nsys_step(e->db, scan, &row, err);
    for (; status == TM_OK && row; status = tm_nsys_step(e->db, scan, &row, err)) {
        int64_t process = tm_nsys_int(scan, 2, 0);
        if (tm_nsys_pid(process) != 0 && process != e->unit->process)
            continue;
        uint32_t name = tm_nsys_intern(e, tm_nsys_text(scan, 1));
        cJSON *text =
            name != TM_NAME_FAILED ? cJSON_CreateString(tm_names_text(e->names, name).bytes) : NULL;
        if (!text) {
            sqlite3_finalize(scan);
            return tm_fail_memory(err);
        }
        cJSON_AddItemToArray(list, text);
        e->trace->counts[TM_COUNT_DIAGNOSTIC]++;
    }
    sqlite3_finalize(scan);
    return status;
}

static tm_status read_schema_version(tm_nsys_emitter *e, cJSON *root, tm_error *err) {
    static const char *const column[] = {"value"};
    static const char *const tables[] = {"META_DATA_EXPORT", "EXPORT_META_DATA"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const tm_nsys_query query = {tables[i], column, 1, "name = 'EXPORT_SCHEMA_VERSION'",
                                     "name"};
        sqlite3_stmt *scan;
        bool row = false;
        TM_TRY(begin(e, &query, &scan, err));
        tm_status status = tm_nsys_step(e->db, scan, &row, err);
        if (status == TM_OK && row &&
            !add_text(e, root, "nsysSchemaVersion", tm_nsys_text(scan, 0)))
            status = tm_fail_memory(err);
        sqlite3_finalize(scan);
        TM_TRY(status);
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
    cJSON *root = cJSON_CreateObject();
    tm_status status = root ? read_host(e, err) : tm_fail_memory(err);
    if (status == TM_OK)
        status = read_schema_version(e, root, err);
    if (status == TM_OK)
        status = read_gpus(e, root, err);
    if (status == TM_OK)
        status = read_diagnostics(e, root, err);
    char *text = status == TM_OK ? cJSON_PrintUnformatted(root) : NULL;
    if (status == TM_OK) {
        e->trace->metadata = text ? tm_names_intern_string(e->names, text) : TM_NAME_FAILED;
        if (e->trace->metadata == TM_NAME_FAILED)
            status = tm_fail_memory(err);
    }
    cJSON_free(text);
    cJSON_Delete(root);
    return status;
}

static tm_status name_process(tm_nsys_emitter *e, tm_error *err) {
    static const char *const column[] = {"name"};
    const tm_nsys_query query = {"PROCESSES", column, 1, "globalPid = ?1", "globalPid"};
    sqlite3_stmt *scan;
    bool row = false;
    TM_TRY(begin(e, &query, &scan, err));
    tm_status status = tm_nsys_step(e->db, scan, &row, err);
    uint32_t name = status == TM_OK && row ? tm_nsys_intern(e, tm_nsys_text(scan, 0)) : TM_NO_NAME;
    sqlite3_finalize(scan);
    if (name == TM_NAME_FAILED)
        return tm_fail_memory(err);
    tm_track *tracks = e->trace->tracks.data;
    for (size_t i = 0; i < e->trace->tracks.n; i++)
        if (tracks[i].kind == TM_TRACK_CPU)
            tracks[i].process_name = name;
    return status;
}

/* A thread has a row for each name that it had; the last counts. */
tm_status tm_nsys_name_tracks(tm_nsys_emitter *e, tm_error *err) {
    static const char *const columns[] = {"nameId", "globalTid"};
    const tm_nsys_query query = {"ThreadNames", columns, 2, "(globalTid & -16777216) = ?1",
                                 "globalTid"};
    sqlite3_stmt *scan;
    bool row = true;
    TM_TRY(name_process(e, err));
    TM_TRY(begin(e, &query, &scan, err));
    tm_status status = tm_nsys_step(e->db, scan, &row, err);
    for (; status == TM_OK && row; status = tm_nsys_step(e->db, scan, &row, err)) {
        uint32_t name;
        status = tm_nsys_string(e, tm_nsys_int(scan, 0, -1), false, &name, err);
        if (status != TM_OK)
            break;
        int64_t thread = tm_nsys_int(scan, 1, 0);
        size_t known = e->trace->tracks.n;
        uint32_t index = tm_nsys_track_of(e, TM_TRACK_CPU, tm_nsys_pid(thread), thread & 0xFFFFFF);
        if (index == UINT32_MAX) {
            status = tm_fail_memory(err);
            break;
        }
        if (index >= known) /* of a thread without events: no track */
            e->trace->tracks.n = known;
        else
            ((tm_track *)e->trace->tracks.data)[index].thread_name = name;
    }
    sqlite3_finalize(scan);
    return status;
}
