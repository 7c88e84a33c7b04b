/* What a rank's host does, as interval sets over all of its threads. */
#ifndef TMERGE_HOST_TIME_H
#define TMERGE_HOST_TIME_H

#include "base/intervals.h"
#include "tmerge/analysis.h"

typedef struct tm_host_time {
    tm_intervals input;         /* waiting for the next batch */
    tm_intervals communication; /* of gloo, which runs on the host */
    tm_intervals runtime;       /* calls of the CUDA or HIP runtime and driver */
    tm_intervals cpu;           /* operators and annotations, none of the above and no step */
    int64_t n_inputs;           /* waits for a batch */
} tm_host_time;

/** Computes the sets of a timeline; release them with tm_host_time_free whatever comes of it.
 * TM_OK; TM_ERR_FAULT where memory is out. */
tm_status tm_host_time_find(const tm_timeline *timeline, struct tm_call_kinds *call_kinds,
                            tm_host_time *out, tm_error *err) TM_MUST_CHECK;
void tm_host_time_free(tm_host_time *host);

#endif
