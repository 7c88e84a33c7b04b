/* Bus bandwidth factors of collectives, as defined by nccl-tests. */
#ifndef TMERGE_BANDWIDTH_H
#define TMERGE_BANDWIDTH_H

#include "tmerge/timeline.h"

/** Returns the traffic of an operation with @p n ranks on its busiest link, as a multiple of the
 * operation's size. */
static inline double tm_bus_factor(uint8_t kind, int32_t n) {
    double ranks = n;
    if (kind == TM_COLL_ALLREDUCE)
        return 2.0 * (ranks - 1.0) / ranks;
    if (kind == TM_COLL_ALLGATHER || kind == TM_COLL_REDUCESCATTER || kind == TM_COLL_ALLTOALL)
        return (ranks - 1.0) / ranks;
    return 1.0;
}

#endif
