#include "devices.h"

#include <cjson/cJSON.h>

int64_t tm_device_memory(tm_text metadata, int32_t device) {
    cJSON *root = metadata.size > 0 ? cJSON_Parse(metadata.bytes) : NULL;
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "deviceProperties"), *entry;
    int64_t bytes = -1;
    if (!list)
        list = cJSON_GetObjectItemCaseSensitive(root, "computeProperties");
    cJSON_ArrayForEach(entry, list) {
        const cJSON *id = cJSON_GetObjectItemCaseSensitive(entry, "id");
        const cJSON *total = cJSON_GetObjectItemCaseSensitive(entry, "totalGlobalMem");
        /* a double holds every number of bytes that a device has */
        if (cJSON_IsNumber(id) && id->valueint == device && cJSON_IsNumber(total) &&
            total->valuedouble > 0 && total->valuedouble < 1e15)
            bytes = (int64_t)total->valuedouble;
    }
    cJSON_Delete(root);
    return bytes;
}
