/* Fits latency and bandwidth of a process group to the times of its operations. */
#ifndef TMERGE_GROUP_FIT_H
#define TMERGE_GROUP_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "tmerge/status.h"

/** One operation. */
typedef struct tm_transfer {
    double moved_bytes; /* size times bus factor (as for busbw of nccl-tests); above 0 */
    double time_ns;     /* above 0 */
} tm_transfer;

/** A fitted line: time = latency + moved / bandwidth. */
typedef struct tm_transfer_line {
    double latency_ns;
    double bandwidth_gbps;
    bool found;         /* false if sizes are too similar, or times do not grow with size */
    bool shows_latency; /* whether the latency is at least a tenth of the time at the smallest size
                         */
    bool shows_bandwidth; /* whether moving the bytes takes at least half of the time at the largest
                             size */
} tm_transfer_line;

/**
 * Fits the line with the smallest sum of relative deviations. Sizes that differ by up to a quarter
 * make one point: the medians of their sizes and times, weighted with the square root of the number
 * of operations. So a few slow operations do not move the line. The few small operations, which
 * determine the latency, are not outweighed by many large ones. There is no line if the largest
 * size is less than four times the smallest.
 * @param transfers  [n] sorted by this function
 * @param out        set only on TM_OK
 * @return           TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_fit_transfers(tm_transfer *transfers, size_t n, tm_transfer_line *out,
                           tm_error *err) TM_MUST_CHECK;

/** Returns the time that the line predicts for a size [ns]. */
static inline double tm_line_at(const tm_transfer_line *line, double moved_bytes) {
    return line->latency_ns + moved_bytes / line->bandwidth_gbps;
}

#endif
