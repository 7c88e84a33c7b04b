/* How a device's memory goes over time, in one word. */
#ifndef TMERGE_MEMORY_PATTERNS_H
#define TMERGE_MEMORY_PATTERNS_H

#include "levels.h"

/** What levels and steps tell of a device. */
typedef struct tm_memory_pattern {
    const char *word;   /* growth, saw-tooth, spike, stable or uneven; NULL: too few steps tell */
    int64_t mean_bytes; /* over the time from the first record to the last */
    int64_t falls;      /* how often the allocator gave memory back to the device */
    size_t spike;       /* of a spike: the step, an index */
} tm_memory_pattern;

/**
 * Told of the steps with records but the first, in which caches fill and optimizers make their
 * states; from three on.
 * @param d  whole: not yet thinned
 * @return   TM_OK; TM_ERR_FAULT
 */
tm_status tm_memory_pattern_find(const tm_device_levels *d, tm_memory_pattern *out,
                                 tm_error *err) TM_MUST_CHECK;

#endif
