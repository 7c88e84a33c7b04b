/* Classifies a device's memory over time. */
#ifndef TMERGE_MEMORY_PATTERNS_H
#define TMERGE_MEMORY_PATTERNS_H

#include "memory_levels.h"

/** Classification of a device's levels and steps. */
typedef struct tm_memory_pattern {
    const char *word;   /* growth, saw-tooth, spike, stable or uneven; NULL: too few steps */
    int64_t mean_bytes; /* over the time from the first to the last record */
    int64_t falls;      /* number of times the allocator returned memory to the device */
    size_t spike;       /* spike: index of its step */
} tm_memory_pattern;

/**
 * Classifies the steps with records, without the first, in which caches fill and optimizers create
 * their states. Needs at least three others.
 * @param d  not thinned yet
 * @return   TM_OK; TM_ERR_FAULT
 */
tm_status tm_memory_pattern_find(const tm_device_levels *d, tm_memory_pattern *out,
                                 tm_error *err) TM_MUST_CHECK;

#endif
