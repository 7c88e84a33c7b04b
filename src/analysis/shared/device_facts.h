/* What a trace's metadata says of its GPUs. */
#ifndef TMERGE_DEVICE_FACTS_H
#define TMERGE_DEVICE_FACTS_H

#include <stdint.h>

#include "tmerge/timeline.h"

/** One device; what is not told is -1, or an empty name. */
typedef struct tm_device {
    int64_t memory_bytes;
    int64_t n_sms; /* multiprocessors */
    double peak_tflops;
    double peak_bw_gbps; /* of its main memory */
    char name[64];       /* cut */
} tm_device;

/** Of `deviceProperties` (2021: `computeProperties`); where several entries have its number, the
 * last that tells. */
void tm_device_find(const tm_timeline *timeline, const tm_names *names, int32_t device,
                    tm_device *out);

#endif
