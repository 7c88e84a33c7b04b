#include "allocators.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

bool tm_allocators_are_reported(const tm_timeline *timeline) {
    return timeline->metadata && strstr(timeline->metadata, "\"allocators\":[") != NULL;
}

static bool is_number(const cJSON *item, const char *key, int32_t value) {
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(item, key);
    return cJSON_IsNumber(number) && number->valueint == value;
}

tm_allocator tm_allocator_find(const tm_timeline *timeline, int32_t type, int32_t device) {
    tm_allocator found = {.limit_bytes = -1};
    cJSON *root = tm_allocators_are_reported(timeline) ? cJSON_Parse(timeline->metadata) : NULL;
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
