/* What a trace's metadata says of its GPUs. */
#ifndef TMERGE_DEVICES_H
#define TMERGE_DEVICES_H

#include <stdint.h>

#include "tmerge/table.h"
#include "tmerge/timeline.h"

/**
 * Bytes of memory that a device has, from `deviceProperties` (2021: `computeProperties`).
 * @return  -1 where the rank's metadata does not say
 */
int64_t tm_device_memory(const tm_timeline *timeline, const tm_names *names, int32_t device);

/** What a trace of TensorFlow or JAX tells of an allocator. */
typedef struct tm_allocator {
    int64_t limit_bytes; /* the most that it hands out; -1 where that is not told */
    char name[64];       /* cut; empty where it is not told */
} tm_allocator;

/** Whether a rank's trace tells of allocators. */
bool tm_allocators_are_told(const tm_timeline *timeline);
tm_allocator tm_allocator_find(const tm_timeline *timeline, int32_t type, int32_t device);

/** PyTorch's word for a type of device that profilers record; ROCm calls itself CUDA. */
void tm_device_type_text(int64_t type, char out[32]);

/** cpu, cuda:0, ...: the host's memory has a number where it has further allocators. */
tm_status tm_device_set_text(int32_t type, int32_t device, tm_table *table, tm_cell *cell,
                             tm_error *err) TM_MUST_CHECK;

#endif
