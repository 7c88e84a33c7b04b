/* Reads the properties of GPUs from a trace's metadata. */
#ifndef TMERGE_DEVICES_H
#define TMERGE_DEVICES_H

#include <stdint.h>

#include "tmerge/table.h"
#include "tmerge/timeline.h"

/**
 * Returns the memory of a device [bytes], from `deviceProperties` (`computeProperties` in traces of
 * 2021).
 * @return -1 if the metadata lacks it
 */
int64_t tm_device_memory(const tm_timeline *timeline, const tm_names *names, int32_t device);

/** Writes PyTorch's word for a device type. PyTorch records ROCm devices as CUDA. */
void tm_device_type_text(int64_t type, char out[32]);

/** Sets the cell to "cpu", "cuda:0", ... If the host has several allocators, all but the first get
 * a number. */
tm_status tm_device_set_text(int32_t type, int32_t device, tm_table *table, tm_cell *cell,
                             tm_error *err) TM_MUST_CHECK;

#endif
