/* What a trace's metadata says of its GPUs. */
#ifndef TMERGE_DEVICES_H
#define TMERGE_DEVICES_H

#include <stdint.h>

#include "tmerge/names.h"

/**
 * Bytes of memory that a device has, from `deviceProperties` (2021: `computeProperties`).
 * @param metadata  the trace's top-level JSON, terminated; may be empty
 * @return          -1 where it does not say
 */
int64_t tm_device_memory(tm_text metadata, int32_t device);

#endif
