/* Classifies the categories of Kineto events, including those of devices other than CUDA and ROCm
 * GPUs. Private to the Kineto reader. */
#ifndef TMERGE_KINETO_CATEGORY_H
#define TMERGE_KINETO_CATEGORY_H

#include "tmerge/timeline.h"

typedef enum tm_kineto_rule {
    TM_KINETO_PLAIN, /* the category decides */
    TM_KINETO_MTIA,  /* the event's name shows whether it is device work or a wait */
    TM_KINETO_NO_MEMORY,
    /* the whole trace decides: flows and labels show whether it is device work
     * (kineto_devices.h) */
    TM_KINETO_PENDING
} tm_kineto_rule;

typedef struct tm_kineto_class {
    /* tm_category. If the rule is TM_KINETO_PENDING, the event gets this category only if it is
     * device work. */
    uint8_t category;
    uint8_t rule; /* tm_kineto_rule */
} tm_kineto_class;

/**
 * Classifies a category.
 * @param device_categories  comma-separated names of further categories that are device work, or
 * NULL
 */
tm_kineto_class tm_kineto_classify(const char *device_categories, const char *bytes, size_t size);

/** Returns the kind of devices whose profiler writes this category; NULL for GPUs or an unknown
 * category. */
const char *tm_kineto_device_word(const char *bytes, size_t size);

/** Returns whether a process label is the name of a device: "MTIA 17" or "GPU 0". */
bool tm_kineto_is_device_label(const char *bytes, size_t size);

#endif
