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

/** PyTorch's word for a type of device that profilers record; ROCm calls itself CUDA. */
void tm_device_type_text(int64_t type, char out[32]);

/** cpu, cuda:0, ...: the host's memory has a number where it has further allocators. */
tm_status tm_device_set_text(int32_t type, int32_t device, tm_table *table, tm_cell *cell,
                             tm_error *err) TM_MUST_CHECK;

#endif
