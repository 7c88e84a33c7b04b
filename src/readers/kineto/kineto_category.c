#include "kineto_category.h"

#include <string.h>
#include <strings.h>

static bool ends_with(const char *bytes, size_t size, const char *end) {
    size_t n = strlen(end);
    return size >= n && strncasecmp(bytes + size - n, end, n) == 0;
}

static bool begins_with(const char *bytes, size_t size, const char *begin) {
    size_t n = strlen(begin);
    return size >= n && strncasecmp(bytes, begin, n) == 0;
}

static bool is(const char *bytes, size_t size, const char *word) {
    return strlen(word) == size && strncasecmp(bytes, word, size) == 0;
}

static bool is_listed(const char *list, const char *bytes, size_t size) {
    for (const char *p = list; p;) {
        size_t n = strcspn(p, ",");
        if (n == size && strncasecmp(p, bytes, n) == 0)
            return true;
        p = p[n] ? p + n + 1 : NULL;
    }
    return false;
}

static tm_category work_of(const char *bytes, size_t size) {
    return ends_with(bytes, size, "memcpy")   ? TM_CAT_MEMCPY
           : ends_with(bytes, size, "memset") ? TM_CAT_MEMSET
                                              : TM_CAT_KERNEL;
}

/* Suffixes of categories of other devices than CUDA's. The first one that fits is used. */
static const struct {
    const char *end;
    tm_category category;
} ends[] = {
    {"_runtime", TM_CAT_RUNTIME},
    {"_driver", TM_CAT_DRIVER},
    {"_sync", TM_CAT_CUDA_SYNC},
    {"_event", TM_CAT_CUDA_EVENT},
    {"_user_annotation", TM_CAT_GPU_ANNOTATION},
};

/* Categories whose durations are never device work. */
static const char *const never[] = {"mtia_insight", "external_correlation", "xpu_scope_profiler",
                                    "hardware_counters", "mtia_counters"};

/* Prefixes of categories. Several profilers write a prefix followed by the word that CUDA's
 * profiler uses. */
static const struct {
    const char *begin, *device;
} families[] = {
    {"xpu_", "XPU"}, {"mtia_", "MTIA"}, {"hpu_", "HPU"}, {"mlu_", "MLU"},
    {"gcu_", "GCU"}, {"npu_", "NPU"},   {"musa_", NULL}, {"privateuse1_", "device"},
};

enum { N_FAMILIES = sizeof families / sizeof *families };

static bool is_of_family(const char *bytes, size_t size) {
    for (size_t i = 0; i < N_FAMILIES; i++)
        if (begins_with(bytes, size, families[i].begin))
            return true;
    return false;
}

const char *tm_kineto_device_word(const char *bytes, size_t size) {
    for (size_t i = 0; i < N_FAMILIES; i++)
        if (begins_with(bytes, size, families[i].begin))
            return families[i].device;
    return NULL;
}

tm_kineto_class tm_kineto_classify(const char *device_categories, const char *bytes, size_t size) {
    tm_category known = tm_category_of(bytes, size);
    if (is_listed(device_categories, bytes, size))
        return (tm_kineto_class){(uint8_t)work_of(bytes, size), TM_KINETO_PLAIN};
    if (known != TM_CAT_OTHER)
        return (tm_kineto_class){(uint8_t)known, TM_KINETO_PLAIN};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(bytes, size, ends[i].end))
            return (tm_kineto_class){(uint8_t)ends[i].category, TM_KINETO_PLAIN};
    if (is(bytes, size, "mtia_ccp_events"))
        return (tm_kineto_class){TM_CAT_KERNEL, TM_KINETO_MTIA};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (is(bytes, size, never[i]))
            return (tm_kineto_class){TM_CAT_OTHER, TM_KINETO_PLAIN};
    bool work = ends_with(bytes, size, "_kernel") || ends_with(bytes, size, "_memcpy") ||
                ends_with(bytes, size, "_memset");
    uint8_t rule = work && is_of_family(bytes, size) ? TM_KINETO_PLAIN : TM_KINETO_PENDING;
    return (tm_kineto_class){(uint8_t)work_of(bytes, size), rule};
}

bool tm_kineto_is_device_label(const char *bytes, size_t size) {
    size_t word = 0, digits = 0;
    while (word < size && ((bytes[word] >= 'A' && bytes[word] <= 'Z') ||
                           (word > 0 && bytes[word] >= '0' && bytes[word] <= '9')))
        word++;
    while (digits < size && bytes[size - 1 - digits] >= '0' && bytes[size - 1 - digits] <= '9')
        digits++;
    bool cpu = word == 3 && memcmp(bytes, "CPU", 3) == 0;
    return word >= 2 && digits > 0 && word + 1 + digits == size && bytes[word] == ' ' && !cpu;
}
