/* Finds launches whose GPU events were not recorded, and the times in which their kernels may have
 * run. */
#ifndef TMERGE_LOST_H
#define TMERGE_LOST_H

#include "base/intervals.h"
#include "tmerge/analysis.h"

typedef struct tm_lost {
    int64_t launches; /* number of calls that launch kernels or graphs */
    int64_t lost;     /* number of launches without a recorded GPU event */
    int64_t graphs;   /* number of lost launches of graphs */
    int64_t between;  /* number of launches between the first and the last launch with a recorded
                         event */
    int64_t lost_between;
    int64_t steps;      /* number of steps that the trace marks */
    int64_t steps_lost; /* number of these steps with a lost launch and without a recorded kernel */
    /* times in which lost launches may have run, while no device ran a recorded event */
    tm_intervals hidden;
    /* time in which lost launches may have run on a device, while it ran no recorded event: sum
     * over devices [ns]; launches of unknown device count as one more device */
    int64_t hidden_ns;
    bool known;   /* whether the trace contains launches */
    bool sampled; /* whether the trace is a sample that lacks most calls */
} tm_lost;

/**
 * Finds lost launches. A graph launch is also lost if only copies of the graph were recorded, or if
 * only its communication was recorded and the device was otherwise mostly idle: a graph does not
 * wait for the host, so its kernels ran in that time. Some launches without events are not lost:
 * launches during a graph capture, which run nothing; launches shortly before the first recorded
 * event; and launches that are still queued at the end of the recording. A trace is a sample if
 * CUPTI's numbers of its calls are far apart.
 * @param out  the caller frees it with tm_lost_free, also on failure
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_lost_find(const tm_rank_view *view, tm_lost *out, tm_error *err) TM_MUST_CHECK;
void tm_lost_free(tm_lost *lost);

#endif
