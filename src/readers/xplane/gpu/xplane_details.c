#include "xplane_details.h"

#include <stdio.h>
#include <string.h>

#include "base/sums.h"

/* Returns the text after "key:". The key must be at the start of a word. NULL if there is no such
 * key. */
static const char *value_of(tm_text text, const char *key) {
    size_t size = strlen(key);
    for (size_t i = 0; i + size < text.size; i++)
        if ((i == 0 || text.bytes[i - 1] == ' ' || text.bytes[i - 1] == '\n') &&
            memcmp(text.bytes + i, key, size) == 0 && text.bytes[i + size] == ':')
            return text.bytes + i + size + 1;
    return NULL;
}

/* Reads the number at *p. Returns -1 if there are no digits, or more than 18. */
static int64_t take_number(const char **p, const char *end) {
    int64_t value = 0;
    const char *begin = *p;
    for (; *p < end && **p >= '0' && **p <= '9' && *p - begin < 19; ++*p)
        value = value < INT64_MAX / 10 - 1 ? value * 10 + (**p - '0') : value;
    return *p > begin && *p - begin < 19 ? value : -1;
}

static int64_t number_of(tm_text text, const char *key) {
    const char *p = value_of(text, key);
    return p ? take_number(&p, text.bytes + text.size) : -1;
}

static void set_triple(tm_text text, const char *key, int32_t out[3]) {
    const char *p = value_of(text, key), *end = text.bytes + text.size;
    for (int i = 0; p && i < 3; i++) {
        out[i] = tm_narrow_i32(take_number(&p, end));
        p += p < end && *p == ',';
    }
}

void tm_xdetails_kernel(tm_text text, tm_launch_shape *out) {
    /* Maximum number of registers per thread. More are invalid: roctracer writes values that it did
     * not initialise. */
    const int64_t registers_max = 1024;
    int64_t registers = number_of(text, "regs"), shared = number_of(text, "shm");
    int64_t fixed = number_of(text, "static_shared"), given = number_of(text, "dynamic_shared");
    if (shared < 0 && fixed >= 0 && given >= 0)
        shared = fixed <= INT32_MAX && given <= INT32_MAX ? fixed + given : -1;
    if (shared < 0) /* ROCm uses another key */
        shared = number_of(text, "group_mem");
    if (registers >= 0 && registers <= registers_max)
        out->registers = (int32_t)registers;
    if (shared >= 0 && shared <= INT32_MAX)
        out->shared_memory_bytes = (int32_t)shared;
    set_triple(text, "grid", out->grid);
    set_triple(text, "block", out->block);
    const char *p = value_of(text, "occ_pct"), *end = text.bytes + text.size;
    int64_t whole = p ? take_number(&p, end) : -1, tenths = 0;
    if (whole >= 0 && p + 1 < end && *p == '.' && p[1] >= '0' && p[1] <= '9')
        tenths = p[1] - '0';
    if (whole >= 0 && whole <= 100 && (whole > 0 || tenths > 0)) /* 0 means unknown */
        out->occupancy_pct = (float)whole + (float)tenths / 10;
}

int64_t tm_xdetails_bytes(tm_text text) {
    int64_t bytes = number_of(text, "size");
    if (bytes < 0)
        bytes = number_of(text, "num_bytes");
    return bytes > 0 ? bytes : -1;
}

static const char *memory_word(tm_text text, const char *key) {
    static const char *const words[][2] = {
        {"pageable", "Pageable"},     {"pinned", "Pinned"},   {"device", "Device"},
        {"array", "Array"},           {"managed", "Managed"}, {"device_static", "Device"},
        {"managed_static", "Managed"}};
    const char *p = value_of(text, key), *end = text.bytes + text.size;
    size_t size = 0;
    while (p && p + size < end && p[size] != ' ')
        size++;
    for (size_t i = 0; p && i < sizeof words / sizeof *words; i++)
        if (strlen(words[i][0]) == size && memcmp(p, words[i][0], size) == 0)
            return words[i][1];
    return NULL;
}

void tm_xdetails_memories(tm_text text, char *out, size_t size) {
    const char *from = memory_word(text, "kind_src"), *to = memory_word(text, "kind_dst");
    *out = '\0';
    if (from && to)
        snprintf(out, size, " (%s -> %s)", from, to);
}
