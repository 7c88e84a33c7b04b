/* What the category of a Kineto event says: devices that are no CUDA or ROCm GPU have their own.
 * Private to the Kineto reader. */
#ifndef TMERGE_KINETO_CATEGORY_H
#define TMERGE_KINETO_CATEGORY_H

#include "tmerge/timeline.h"

typedef enum tm_kineto_rule {
    TM_KINETO_PLAIN, /* the category tells all */
    TM_KINETO_MTIA,  /* work or waiting of a device, by the event's name */
    TM_KINETO_NO_MEMORY,
    TM_KINETO_PENDING /* it does not tell: flows and labels do (kineto_devices.h) */
} tm_kineto_rule;

typedef struct tm_kineto_class {
    uint8_t category; /* tm_category; of what is pending, what it is if it is a device's work */
    uint8_t rule;     /* tm_kineto_rule */
} tm_kineto_class;

/**
 * @param device_categories  names, with commas between them, that are work of a device besides, or
 *                           NULL
 */
tm_kineto_class tm_kineto_classify(const char *device_categories, const char *bytes, size_t size);

/** What the devices are called by whose profiler a category was made; NULL where it does not tell
 * or is of GPUs. */
const char *tm_kineto_device_word(const char *bytes, size_t size);

/** Whether a text is the name of a device, "MTIA 17" or "GPU 0", of which a process is labelled. */
bool tm_kineto_is_device_label(const char *bytes, size_t size);

#endif
