#include "rocprof_units.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/sorted.h"
#include "rocprof_emit.h"

/* Takes the host's name from the path HOST/PID_results.json, for files that do not contain the
 * name. Returns false if the path has another form. */
static bool host_of_path(const char *path, int64_t pid, char *out, size_t size) {
    char name[40];
    const char *base = strrchr(path, '/');
    snprintf(name, sizeof name, "%" PRId64 "_results", pid);
    if (!base || pid < 0 || strncmp(base + 1, name, strlen(name)) != 0)
        return false;
    const char *folder = base;
    while (folder > path && folder[-1] != '/')
        folder--;
    size_t n = (size_t)(base - folder);
    if (n == 0 || n >= size || strspn(folder, ".") >= n)
        return false;
    memcpy(out, folder, n);
    out[n] = '\0';
    return true;
}

/* Finds the host of a process; false if it is unknown. */
static bool host_of(const tm_rocprof_tables *t, const char *path, char *out, size_t size) {
    if (t->host.size == 0 || t->host.size >= size)
        return host_of_path(path, t->pid, out, size);
    memcpy(out, (const char *)t->texts.data + t->host.at, t->host.size);
    out[t->host.size] = '\0';
    return true;
}

/* A device that the current process used. `kernels`: the process ran kernels on the device. */
typedef struct device {
    int64_t number;
    bool kernels;
} device;

typedef struct lister {
    const char *path;
    tm_vec devices; /* vector of device */
    tm_vec *units;
} lister;

static bool list_record(void *context, tm_rocprof_tables *t, tm_rocprof_list list,
                        const tm_rocprof_record *record) {
    lister *l = context;
    int64_t number;
    if (!tm_rocprof_device_of(t, list, record, &number))
        return true;
    device *v = l->devices.data;
    for (size_t i = 0; i < l->devices.n; i++)
        if (v[i].number == number) {
            v[i].kernels |= list == L_DISPATCH;
            return true;
        }
    const device found = {number, list == L_DISPATCH};
    return tm_vec_append(&l->devices, &found, 1) != NULL;
}

static int by_kernels(const void *a, const void *b) {
    const device *x = a, *y = b;
    return x->kernels != y->kernels ? y->kernels - x->kernels : tm_order_i64(x->number, y->number);
}

/* Makes the units of a process. The units are its devices with kernels. If no device has kernels,
 * the units are the devices to or from which the process copies. All other devices belong to the
 * first unit. */
static bool list_process(void *context, tm_rocprof_tables *t, int64_t process) {
    lister *l = context;
    char host[256];
    device *v = l->devices.data;
    size_t n = l->devices.n;
    tm_unit unit = {.process = process, .rank = -1, .clock_ns = -1};
    uint64_t hash = 0, rest = ~UINT64_C(0);
    if (host_of(t, l->path, host, sizeof host))
        hash = tm_hash(TM_HASH_BEGIN, host, strlen(host));
    memcpy(&unit.host, &hash, sizeof hash);
    if (n > 1)
        qsort(v, n, sizeof *v, by_kernels);
    while (n > 0 && v[0].kernels && !v[n - 1].kernels)
        n--;
    for (size_t i = 1; i < n; i++)
        rest &= ~tm_unit_device(v[i].number);
    /* The rank is known only for a process with one device: its environment gives the rank. A
     * process with several devices is several ranks. A process without devices (a launcher, a data
     * loader) may have inherited the environment of a rank. */
    if (n == 1)
        unit.rank = t->rank;
    /* a process without devices is one unit: it has calls on the host */
    for (size_t i = 0; i < (n > 0 ? n : 1); i++) {
        uint64_t own = i == 0 ? rest : tm_unit_device(v[i].number);
        memcpy(&unit.devices, &own, sizeof own);
        if (!tm_vec_append(l->units, &unit, 1))
            return false;
    }
    l->devices.n = 0;
    return true;
}

tm_status tm_rocprof_list_units(tm_rocprof_read *document, tm_source *source, tm_vec *units,
                                tm_error *err) {
    lister l = {.path = tm_source_path(source), .devices = TM_VEC(device), .units = units};
    const tm_rocprof_sink sink = {.process = -1,
                                  .devices_alone = true,
                                  .record = list_record,
                                  .end = list_process,
                                  .context = &l};
    bool cut;
    tm_status status = document(source, &sink, &cut, err);
    tm_vec_free(&l.devices);
    /* A truncated or bad file is reported by the reader. */
    return status == TM_ERR_INPUT && (cut || units->n == 0) ? TM_OK : status;
}

/* State while the trace of one unit is read. */
typedef struct reader {
    tm_rocprof_emitter emitter;
    const char *path;
    size_t n_processes;
} reader;

static bool read_record(void *context, tm_rocprof_tables *t, tm_rocprof_list list,
                        const tm_rocprof_record *record) {
    reader *r = context;
    return tm_rocprof_emit(&r->emitter, t, list, record);
}

static bool add_gpu(cJSON *list, tm_rocprof_tables *t, tm_rocprof_agent *agent, tm_names *names) {
    cJSON *gpu = cJSON_CreateObject();
    uint32_t name = tm_rocprof_name(t, &agent->name, names);
    if (!gpu || !cJSON_AddItemToArray(list, gpu) || name == TM_NAME_FAILED)
        return false;
    bool ok = cJSON_AddNumberToObject(gpu, "id", (double)agent->device) &&
              cJSON_AddStringToObject(gpu, "name", tm_names_text(names, name).bytes);
    if (agent->bytes > 0) /* the number is below 2^53, so it is exact as a double */
        ok = ok && cJSON_AddNumberToObject(gpu, "totalGlobalMem", (double)agent->bytes);
    if (agent->units > 0)
        ok = ok && cJSON_AddNumberToObject(gpu, "numSms", (double)agent->units);
    if (agent->wave > 0)
        ok = ok && cJSON_AddNumberToObject(gpu, "warpSize", (double)agent->wave);
    return ok;
}

/* Describes the GPUs in the same way as Kineto. Leaves out the command and the configuration,
 * because they may contain secrets. */
static bool describe(const reader *r, tm_rocprof_tables *t) {
    cJSON *root = cJSON_CreateObject();
    cJSON *list = cJSON_AddArrayToObject(root, "deviceProperties");
    tm_rocprof_agent *v = t->agents.data;
    bool ok = list != NULL;
    for (size_t i = 0; i < t->agents.n && ok; i++)
        if (v[i].gpu && v[i].device >= 0 && v[i].device < TM_UNIT_DEVICES_MAX)
            ok = add_gpu(list, t, &v[i], r->emitter.names);
    char *text = ok ? cJSON_PrintUnformatted(root) : NULL;
    uint32_t name = text ? tm_names_intern_string(r->emitter.names, text) : TM_NAME_FAILED;
    cJSON_free(text);
    cJSON_Delete(root);
    r->emitter.trace->metadata = name;
    return name != TM_NAME_FAILED;
}

static bool read_end(void *context, tm_rocprof_tables *t, int64_t process) {
    reader *r = context;
    char host[256];
    (void)process;
    if (r->n_processes++ > 0)
        return true;
    r->emitter.trace->world_size = t->world_size;
    if (host_of(t, r->path, host, sizeof host))
        r->emitter.trace->host = tm_names_intern_string(r->emitter.names, host);
    return r->emitter.trace->host != TM_NAME_FAILED && describe(r, t) &&
           tm_rocprof_emit_end(&r->emitter);
}

tm_status tm_rocprof_read_unit(tm_rocprof_read *document, tm_source *source, const tm_unit *unit,
                               tm_names *names, tm_trace *out, tm_error *err) {
    reader *r = calloc(1, sizeof *r);
    if (!r)
        return tm_fail_memory(err);
    const tm_rocprof_sink sink = {.process = unit ? unit->process : -1,
                                  .record = read_record,
                                  .end = read_end,
                                  .context = r,
                                  .counts = out->counts};
    r->path = tm_source_path(source);
    tm_rocprof_emitter_init(&r->emitter, unit, names, out);
    tm_status status = document(source, &sink, &out->truncated, err);
    if (status == TM_ERR_INPUT && out->truncated && out->events.n > 0)
        status = TM_OK;
    if (status == TM_OK && r->n_processes > 1)
        status = tm_fail(err, TM_ERR_INPUT, tm_source_path(source), -1,
                         "contains %zu processes, which must be read one by one", r->n_processes);
    tm_rocprof_emitter_free(&r->emitter);
    free(r);
    return status;
}
