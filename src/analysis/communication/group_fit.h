/* Latency and bandwidth of a process group, from the times of its own operations. */
#ifndef TMERGE_GROUP_FIT_H
#define TMERGE_GROUP_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "tmerge/status.h"

/** One operation. */
typedef struct tm_transfer {
    double moved_bytes; /* its size times its bus factor; above 0 */
    double time_ns;     /* above 0 */
} tm_transfer;

/** time = latency + moved / bandwidth. */
typedef struct tm_transfer_line {
    double latency_ns;
    double bandwidth_gbps;
    bool found;           /* false: the sizes are too alike, or the times do not grow with them */
    bool tells_latency;   /* it is a tenth or more of what the smallest size takes */
    bool tells_bandwidth; /* moving is half or more of what the largest size takes */
} tm_transfer_line;

/**
 * The line with the least sum of relative deviations. Sizes within a quarter of one another count
 * as one, by their medians, with the square root of their number as weight; so a few slow
 * operations do not move it, and the few small ones that tell the latency are not lost among many
 * large ones. The largest size must be four times the smallest.
 *
 * @param transfers  [n] sorted by the call
 * @param out        set only on TM_OK
 * @return           TM_OK; TM_ERR_FAULT where memory is out
 */
tm_status tm_fit_transfers(tm_transfer *transfers, size_t n, tm_transfer_line *out,
                           tm_error *err) TM_MUST_CHECK;

/** What the line gives for a size [ns]. */
static inline double tm_line_at(const tm_transfer_line *line, double moved_bytes) {
    return line->latency_ns + moved_bytes / line->bandwidth_gbps;
}

#endif
