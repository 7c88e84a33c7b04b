#include "device_facts.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "timeline/metadata.h"

/* Returns the number in a JSON value if it is positive and exact in a double. Otherwise returns @p
 * known, the value so far. */
static double number_of(const cJSON *entry, const char *key, double known) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(entry, key);
    bool is = cJSON_IsNumber(item) && item->valuedouble > 0 && item->valuedouble < 1e15;
    return is ? item->valuedouble : known;
}

/* Reads an entry of the list of devices. Returns false if the entry is for another device. */
static bool read_entry(const cJSON *entry, int32_t device, tm_device *out) {
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(entry, "id");
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "name"));
    if (!cJSON_IsNumber(id) || id->valueint != device)
        return false;
    out->memory_bytes = (int64_t)number_of(entry, "totalGlobalMem", (double)out->memory_bytes);
    out->n_sms = (int64_t)number_of(entry, "numSms", (double)out->n_sms);
    out->peak_tflops = number_of(entry, "peakTeraflopsPerSecond", out->peak_tflops);
    out->peak_bw_gbps = number_of(entry, "peakHbmGigabytesPerSecond", out->peak_bw_gbps);
    if (name)
        snprintf(out->name, sizeof out->name, "%s", name);
    return true;
}

/* Reads a device from the list of devices, which is stored apart from other metadata. The list may
 * have many more devices than the rank uses, so only entries that contain the device's id are
 * parsed. */
static bool read_likely(const char *list, int32_t device, tm_device *out) {
    char member[24];
    bool found = false;
    snprintf(member, sizeof member, "\"id\":%d", (int)device);
    for (const char *p = list; (p = strstr(p, member)); p += strlen(member)) {
        const char *begin = p;
        while (begin > list && *begin != '{')
            begin--;
        cJSON *entry = cJSON_ParseWithLength(begin, strlen(begin));
        found |= read_entry(entry, device, out);
        cJSON_Delete(entry);
    }
    return found;
}

static void read_any(const cJSON *list, int32_t device, tm_device *out) {
    const cJSON *entry;
    cJSON_ArrayForEach(entry, list) {
        read_entry(entry, device, out);
    }
}

static void read_cut(const char *list, int32_t device, tm_device *out) {
    cJSON *whole = read_likely(list, device, out) ? NULL : cJSON_Parse(list);
    read_any(whole, device, out);
    cJSON_Delete(whole);
}

void tm_device_find(const tm_timeline *timeline, const tm_names *names, int32_t device,
                    tm_device *out) {
    const char *metadata = tm_timeline_metadata(timeline).bytes;
    const char *reported = tm_metadata_member(metadata, "deviceProperties");
    reported = reported ? reported : tm_metadata_member(metadata, "computeProperties");
    cJSON *list = reported ? cJSON_ParseWithOpts(reported, NULL, false) : NULL;
    uint32_t cut = tm_timeline_list(timeline, cJSON_GetStringValue(list));
    *out = (tm_device){.memory_bytes = -1, .n_sms = -1, .peak_tflops = -1.0, .peak_bw_gbps = -1.0};
    if (cut != TM_NO_NAME)
        read_cut(tm_names_text(names, cut).bytes, device, out);
    else
        read_any(list, device, out);
    cJSON_Delete(list);
}
