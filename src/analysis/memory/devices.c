#include "devices.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "analysis/shared/device_facts.h"

int64_t tm_device_memory(const tm_timeline *timeline, const tm_names *names, int32_t device) {
    tm_device found;
    tm_device_find(timeline, names, device, &found);
    return found.memory_bytes;
}

bool tm_allocators_are_told(const tm_timeline *timeline) {
    return timeline->metadata && strstr(timeline->metadata, "\"allocators\":[") != NULL;
}

static bool is_number(const cJSON *item, const char *key, int32_t value) {
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(item, key);
    return cJSON_IsNumber(number) && number->valueint == value;
}

tm_allocator tm_allocator_find(const tm_timeline *timeline, int32_t type, int32_t device) {
    tm_allocator found = {.limit_bytes = -1};
    cJSON *root = tm_allocators_are_told(timeline) ? cJSON_Parse(timeline->metadata) : NULL;
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(root, "allocators")) {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(item, "name");
        const cJSON *limit = cJSON_GetObjectItemCaseSensitive(item, "limitBytes");
        if (!is_number(item, "type", type) || !is_number(item, "device", device))
            continue;
        if (cJSON_IsNumber(limit) && limit->valuedouble > 0 && limit->valuedouble < 1e15)
            found.limit_bytes = (int64_t)limit->valuedouble;
        if (cJSON_IsString(name))
            snprintf(found.name, sizeof found.name, "%s", name->valuestring);
    }
    cJSON_Delete(root);
    return found;
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
    if (device < (type == 0 ? 1 : 0))
        return tm_table_set_text(table, cell, word, err);
    snprintf(text, sizeof text, "%s:%d", word, (int)device);
    return tm_table_set_text(table, cell, text, err);
}
