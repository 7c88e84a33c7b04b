/* Properties of memory allocators, from a trace's metadata. */
#ifndef TMERGE_ALLOCATORS_H
#define TMERGE_ALLOCATORS_H

#include <stdbool.h>
#include <stdint.h>

#include "tmerge/timeline.h"

/** A memory allocator as described by a TensorFlow or JAX trace. */
typedef struct tm_allocator {
    int64_t limit_bytes; /* maximum memory that it hands out [bytes]; -1 if not recorded */
    char name[64];       /* truncated; empty if not recorded */
} tm_allocator;

/** Returns whether a rank's trace describes its allocators. */
bool tm_allocators_are_reported(const tm_timeline *timeline);
tm_allocator tm_allocator_find(const tm_timeline *timeline, int32_t type, int32_t device);

#endif
