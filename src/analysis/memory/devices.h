/* What a trace's metadata says of its GPUs. */
#ifndef TMERGE_DEVICES_H
#define TMERGE_DEVICES_H

#include <stdint.h>

#include "tmerge/timeline.h"

/**
 * Bytes of memory that a device has, from `deviceProperties` (2021: `computeProperties`).
 * @return  -1 where the rank's metadata does not say
 */
int64_t tm_device_memory(const tm_timeline *timeline, const tm_names *names, int32_t device);

#endif
