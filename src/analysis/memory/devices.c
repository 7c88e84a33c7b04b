#include "devices.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "timeline/metadata.h"

/* -1 where the entry is of another device, or does not say. */
static int64_t memory_of(const cJSON *entry, int32_t device) {
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(entry, "id");
    const cJSON *total = cJSON_GetObjectItemCaseSensitive(entry, "totalGlobalMem");
    /* a double holds every number of bytes that a device has */
    bool is = cJSON_IsNumber(id) && id->valueint == device && cJSON_IsNumber(total) &&
              total->valuedouble > 0 && total->valuedouble < 1e15;
    return is ? (int64_t)total->valuedouble : -1;
}

/* Of a list that was cut out. Its entries are of many devices, and a rank has one or a few: only
 * what may be of the device is parsed. */
static int64_t memory_of_likely(const char *list, int32_t device) {
    char member[24];
    int64_t bytes = -1;
    snprintf(member, sizeof member, "\"id\":%d", (int)device);
    for (const char *p = list; (p = strstr(p, member)); p += strlen(member)) {
        const char *begin = p;
        while (begin > list && *begin != '{')
            begin--;
        cJSON *entry = cJSON_ParseWithLength(begin, strlen(begin));
        int64_t found = memory_of(entry, device);
        bytes = found >= 0 ? found : bytes;
        cJSON_Delete(entry);
    }
    return bytes;
}

static int64_t memory_of_any(const cJSON *list, int32_t device) {
    const cJSON *entry;
    int64_t bytes = -1;
    cJSON_ArrayForEach(entry, list) {
        int64_t found = memory_of(entry, device);
        bytes = found >= 0 ? found : bytes;
    }
    return bytes;
}

static int64_t memory_in(const char *list, int32_t device) {
    int64_t bytes = memory_of_likely(list, device);
    cJSON *whole = bytes < 0 ? cJSON_Parse(list) : NULL;
    bytes = whole ? memory_of_any(whole, device) : bytes;
    cJSON_Delete(whole);
    return bytes;
}

int64_t tm_device_memory(const tm_timeline *timeline, const tm_names *names, int32_t device) {
    tm_text metadata = tm_timeline_metadata(timeline);
    cJSON *root = metadata.size > 0 ? cJSON_Parse(metadata.bytes) : NULL;
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "deviceProperties");
    if (!list)
        list = cJSON_GetObjectItemCaseSensitive(root, "computeProperties");
    uint32_t cut = tm_timeline_list(timeline, cJSON_GetStringValue(list));
    int64_t bytes = cut != TM_NO_NAME ? memory_in(tm_names_text(names, cut).bytes, device)
                                      : memory_of_any(list, device);
    cJSON_Delete(root);
    return bytes;
}

void tm_device_type_text(int64_t type, char out[32]) {
    static const char *const words[] = {[0] = "cpu",  [1] = "cuda", [6] = "hip",  [9] = "xla",
                                        [12] = "xpu", [13] = "mps", [15] = "hpu", [19] = "mtia"};
    bool known = type >= 0 && type < (int64_t)(sizeof words / sizeof *words) && words[type];
    if (known)
        snprintf(out, 32, "%s", words[type]);
    else
        snprintf(out, 32, "type%d", (int)type);
}

tm_status tm_device_set_text(int32_t type, int32_t device, tm_table *table, tm_cell *cell,
                             tm_error *err) {
    char word[32], text[64];
    tm_device_type_text(type, word);
    if (type == 0 || device < 0)
        return tm_table_set_text(table, cell, word, err);
    snprintf(text, sizeof text, "%s:%d", word, (int)device);
    return tm_table_set_text(table, cell, text, err);
}
