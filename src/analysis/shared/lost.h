/* Launches whose GPU events were not recorded, and when the GPU may have run their kernels. */
#ifndef TMERGE_LOST_H
#define TMERGE_LOST_H

#include "base/intervals.h"
#include "tmerge/analysis.h"

typedef struct tm_lost {
    int64_t launches; /* number of calls that launch kernels or graphs */
    int64_t lost;     /* number of launches without a recorded GPU event */
    int64_t graphs;   /* lost graph launches */
    int64_t between;  /* number of launches between the first and the last launch with a recorded
                         event */
    int64_t lost_between;
    int64_t steps;      /* number of steps that the trace marks */
    int64_t steps_lost; /* number of these steps that have a lost launch and no recorded kernel */
    /* times in which lost launches may have run, and no device ran a recorded event */
    tm_intervals hidden;
    /* time in which lost launches may have run on a device, and the device ran no recorded event:
     * sum over devices [ns]. Launches of unknown device count as one more device */
    int64_t hidden_ns;
    bool known;   /* whether the trace contains launches */
    bool sampled; /* whether the trace is a sample, which lacks most calls */
} tm_lost;

/**
 * Finds lost launches. Launches during the capture of a graph run nothing, so they are not lost. A
 * launch of a graph is lost if only copies of the graph were recorded. It is also lost if only
 * communication of the graph was recorded although the device was mostly idle, because a graph does
 * not wait for the host. Launches shortly before the first recorded event normally have no event.
 * The same holds for launches that are still queued at the end of the recording.
 *
 * A trace is a sample if the numbers that CUPTI gave to its calls are far apart.
 * @param out  the caller frees it with tm_lost_free, also on failure
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_lost_find(const tm_rank_view *view, tm_lost *out, tm_error *err) TM_MUST_CHECK;
void tm_lost_free(tm_lost *lost);

#endif
