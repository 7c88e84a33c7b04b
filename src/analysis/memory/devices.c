#include "devices.h"

#include <stdio.h>
#include <string.h>

#include "analysis/shared/device_facts.h"

int64_t tm_device_memory(const tm_timeline *timeline, const tm_names *names, int32_t device) {
    tm_device found;
    tm_device_find(timeline, names, device, &found);
    return found.memory_bytes;
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
