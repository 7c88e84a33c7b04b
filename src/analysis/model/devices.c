#include "devices.h"

#include <cjson/cJSON.h>

#include "timeline/metadata.h"

int64_t tm_device_memory(const tm_timeline *timeline, const tm_names *names, int32_t device) {
    tm_text metadata = tm_timeline_metadata(timeline);
    cJSON *root = metadata.size > 0 ? cJSON_Parse(metadata.bytes) : NULL;
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "deviceProperties"), *entry;
    int64_t bytes = -1;
    if (!list)
        list = cJSON_GetObjectItemCaseSensitive(root, "computeProperties");
    uint32_t cut = tm_timeline_list(timeline, cJSON_GetStringValue(list));
    cJSON *whole = cut != TM_NO_NAME ? cJSON_Parse(tm_names_text(names, cut).bytes) : NULL;
    list = whole ? whole : list;
    cJSON_ArrayForEach(entry, list) {
        const cJSON *id = cJSON_GetObjectItemCaseSensitive(entry, "id");
        const cJSON *total = cJSON_GetObjectItemCaseSensitive(entry, "totalGlobalMem");
        /* a double holds every number of bytes that a device has */
        if (cJSON_IsNumber(id) && id->valueint == device && cJSON_IsNumber(total) &&
            total->valuedouble > 0 && total->valuedouble < 1e15)
            bytes = (int64_t)total->valuedouble;
    }
    cJSON_Delete(whole);
    cJSON_Delete(root);
    return bytes;
}
