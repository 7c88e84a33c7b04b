/* Patterns of a device's memory over time: growth, saw-tooth, spikes. */
#ifndef TMERGE_MEMORY_PATTERNS_H
#define TMERGE_MEMORY_PATTERNS_H

#include "memory_levels.h"

/** Pattern of a device's memory over levels and steps. */
typedef struct tm_memory_pattern {
    const char *word;   /* growth, saw-tooth, spike, stable or uneven; NULL: too few steps */
    int64_t mean_bytes; /* mean of the allocated bytes from the first to the last record */
    int64_t falls;      /* number of times that the allocator returned memory to the device */
    size_t spike;       /* index of the step with the spike, if `word` is spike */
} tm_memory_pattern;

/**
 * Classifies how memory changes over the steps that have records. The first step does not count,
 * because caches fill and optimizers create their states in it. Needs at least three other steps.
 * @param d  its levels must not have been thinned
 * @return   TM_OK; TM_ERR_FAULT
 */
tm_status tm_memory_pattern_find(const tm_device_levels *d, tm_memory_pattern *out,
                                 tm_error *err) TM_MUST_CHECK;

#endif
