/* What a trace's metadata says of allocators of memory. */
#ifndef TMERGE_ALLOCATORS_H
#define TMERGE_ALLOCATORS_H

#include <stdbool.h>
#include <stdint.h>

#include "tmerge/timeline.h"

/** What a trace of TensorFlow or JAX tells of an allocator. */
typedef struct tm_allocator {
    int64_t limit_bytes; /* the most that it hands out; -1 where that is not told */
    char name[64];       /* cut; empty where it is not told */
} tm_allocator;

/** Whether a rank's trace tells of allocators. */
bool tm_allocators_are_told(const tm_timeline *timeline);
tm_allocator tm_allocator_find(const tm_timeline *timeline, int32_t type, int32_t device);

#endif
