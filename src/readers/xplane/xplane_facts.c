#include "xplane_facts.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>

/* The stats of devices that are kept. If Kineto has a key for such a value, this key is used. */
static const struct {
    const char *stat, *key;
} device_facts[] = {
    {"device_type_string", "name"},
    {"device_vendor", "vendor"},
    {"memory_size", "totalGlobalMem"},
    {"core_count", "numSms"},
    {"compute_cap_major", "computeMajor"},
    {"compute_cap_minor", "computeMinor"},
    {"clock_rate", "clockRateKHz"},
    {"memory_bandwidth", "memoryBandwidthBytesPerSecond"},
    {"peak_teraflops_per_second", "peakTeraflopsPerSecond"},
    {"peak_hbm_bw_gigabytes_per_second", "peakHbmGigabytesPerSecond"},
};

static bool add_text(tm_xread *r, cJSON *object, const char *key, tm_text text) {
    uint32_t name = tm_xread_intern(r, text);
    return name != TM_NAME_FAILED &&
           cJSON_AddStringToObject(object, key, tm_names_text(r->names, name).bytes);
}

static bool add_fact(tm_xread *r, cJSON *object, const char *key, const tm_xstat *stat) {
    char text[24]; /* added as text, because cJSON keeps numbers as doubles */
    tm_text words = tm_xstat_text(r->device->plane, stat);
    if (words.size > 0)
        return add_text(r, object, key, words);
    if (stat->type == TM_X_DOUBLE)
        return cJSON_AddNumberToObject(object, key, stat->r);
    snprintf(text, sizeof text, "%" PRId64, stat->i);
    return (stat->type != TM_X_INT64 && stat->type != TM_X_UINT64) || stat->i < 0 ||
           cJSON_AddRawToObject(object, key, text);
}

static bool add_device(tm_xread *r, cJSON *root) {
    cJSON *list = cJSON_AddArrayToObject(root, "deviceProperties");
    cJSON *device = list && r->device ? cJSON_CreateObject() : NULL;
    tm_xstat stat;
    if (!device)
        return list && !r->device;
    cJSON_AddItemToArray(list, device);
    bool ok = cJSON_AddNumberToObject(device, "id", (double)r->device->number);
    for (size_t i = 0; i < sizeof device_facts / sizeof *device_facts && ok; i++)
        if (tm_xplane_stat(r->device->plane, device_facts[i].stat, &stat))
            ok = add_fact(r, device, device_facts[i].key, &stat);
    return ok;
}

static bool add_allocators(tm_xread *r, cJSON *root) {
    const tm_xallocator *v = r->allocators.data;
    cJSON *list = r->allocators.n > 0 ? cJSON_AddArrayToObject(root, "allocators") : NULL;
    bool ok = list || r->allocators.n == 0;
    for (size_t i = 0; i < r->allocators.n && ok; i++) {
        char limit[24];
        cJSON *item = cJSON_CreateObject();
        snprintf(limit, sizeof limit, "%" PRId64, v[i].limit_bytes);
        ok = item && cJSON_AddItemToArray(list, item) &&
             cJSON_AddNumberToObject(item, "type", v[i].type) &&
             cJSON_AddNumberToObject(item, "device", v[i].device) &&
             (v[i].limit_bytes < 0 || cJSON_AddRawToObject(item, "limitBytes", limit)) &&
             (v[i].name == TM_NO_NAME ||
              cJSON_AddStringToObject(item, "name", tm_names_text(r->names, v[i].name).bytes));
    }
    return ok;
}

/* Adds warnings and errors only to the first rank, because they are about the whole file. */
static bool add_diagnostics(tm_xread *r, cJSON *root) {
    const tm_vec *lists[] = {&r->space.errors, &r->space.warnings};
    cJSON *array = cJSON_AddArrayToObject(root, "diagnostics");
    bool ok = array != NULL;
    for (size_t k = 0; k < 2 && r->is_first; k++)
        for (size_t i = 0; i < lists[k]->n && ok; i++) {
            uint32_t name = tm_xread_intern(r, ((const tm_text *)lists[k]->data)[i]);
            cJSON *text = name != TM_NAME_FAILED
                              ? cJSON_CreateString(tm_names_text(r->names, name).bytes)
                              : NULL;
            ok = text && cJSON_AddItemToArray(array, text);
            r->trace->counts[TM_COUNT_DIAGNOSTIC]++;
        }
    return ok;
}

/* Times before 2000 or after 2065 are invalid. */
void tm_xfacts_set_epoch(tm_xread *r) {
    const tm_xplane *task = tm_space_plane(&r->space, "Task Environment");
    const int64_t most = INT64_C(3000000000000000000);
    tm_xstat start;
    bool known = task && tm_xplane_stat(task, "profile_start_time", &start) &&
                 start.i >= TM_FIRST_DAY_NS && start.i <= most;
    r->epoch_ns = known ? start.i : 0;
    r->trace->base_ns = known ? start.i : -1;
}

tm_status tm_xfacts_read(tm_xread *r, tm_error *err) {
    cJSON *root = cJSON_CreateObject();
    static const char *const kinds[] = {[TM_X_GPU] = NULL, "TPU", "CPU device"};
    const char *kind = r->device ? kinds[r->device->kind] : NULL; /* as in TM_DEVICE_KIND */
    bool ok = root && (!kind || cJSON_AddStringToObject(root, "device_kind", kind)) &&
              add_device(r, root) && add_allocators(r, root) && add_diagnostics(r, root);
    char *text = ok ? cJSON_PrintUnformatted(root) : NULL;
    r->trace->metadata = text ? tm_names_intern_string(r->names, text) : TM_NAME_FAILED;
    cJSON_free(text);
    cJSON_Delete(root);
    return r->trace->metadata != TM_NAME_FAILED && r->trace->host != TM_NAME_FAILED
               ? TM_OK
               : tm_fail_memory(err);
}
