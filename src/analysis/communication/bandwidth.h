/* Sizes and bandwidths of collectives, as nccl-tests counts them. */
#ifndef TMERGE_BANDWIDTH_H
#define TMERGE_BANDWIDTH_H

#include "tmerge/timeline.h"

/** The power of two at or below @p bytes; -1 for an unknown size, 0 for none. */
static inline int64_t tm_size_class(int64_t bytes) {
    int64_t power = 1;
    if (bytes <= 0)
        return bytes;
    while (power <= bytes / 2)
        power *= 2;
    return power;
}

/** What an operation of @p n ranks moves over its slowest link, as a multiple of its size. */
static inline double tm_bus_factor(uint8_t kind, int32_t n) {
    double ranks = n;
    if (kind == TM_COLL_ALLREDUCE)
        return 2.0 * (ranks - 1.0) / ranks;
    if (kind == TM_COLL_ALLGATHER || kind == TM_COLL_REDUCESCATTER || kind == TM_COLL_ALLTOALL)
        return (ranks - 1.0) / ranks;
    return 1.0;
}

#endif
