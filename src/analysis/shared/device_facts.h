/* Properties of a trace's GPUs, from its metadata. */
#ifndef TMERGE_DEVICE_FACTS_H
#define TMERGE_DEVICE_FACTS_H

#include <stdint.h>

#include "tmerge/timeline.h"

/** A device. Unknown numbers are -1; an unknown name is empty. */
typedef struct tm_device {
    int64_t memory_bytes;
    int64_t n_sms; /* number of multiprocessors */
    double peak_tflops;
    double peak_bw_gbps; /* bandwidth of its main memory [GB/s] */
    char name[64];       /* truncated to fit */
} tm_device;

/** Reads a device from `deviceProperties` (`computeProperties` in traces of 2021). If several
 * entries have the device's number, the last entry that has a value counts. */
void tm_device_find(const tm_timeline *timeline, const tm_names *names, int32_t device,
                    tm_device *out);

#endif
