/* Launches without any recorded GPU event, and when the GPU may have run their kernels. */
#ifndef TMERGE_LOST_H
#define TMERGE_LOST_H

#include "base/intervals.h"
#include "tmerge/analysis.h"

typedef struct tm_lost {
    int64_t launches; /* calls that launch kernels or graphs */
    int64_t lost;     /* launches without a recorded GPU event */
    int64_t graphs;   /* lost graph launches */
    int64_t between;  /* launches between the first and the last one with a recorded event */
    int64_t lost_between;
    int64_t steps;      /* steps marked by the trace */
    int64_t steps_lost; /* marked steps that have launches, but no recorded kernel */
    /* times when devices may have run lost launches while nothing was recorded */
    tm_intervals hidden;
    /* sum over devices of the times when the device may have run lost launches while it ran nothing
     * recorded [ns]. A launch of unknown device counts once */
    int64_t hidden_ns;
    bool known;   /* the trace contains launches */
    bool sampled; /* the trace is a sample: it lacks most of the calls */
} tm_lost;

/**
 * Finds lost launches. Launches during the capture of a graph run nothing. A graph launch is lost
 * if only copies of the graph were recorded, or only communication while the device was mostly
 * idle: a graph does not wait for the host. Launches shortly before the first recorded event, or
 * still queued when the recording ends, normally have no event.
 *
 * A trace is a sample if the numbers of its calls are far apart.
 *
 * @param out  free it with tm_lost_free, even on failure
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_lost_find(const tm_rank_view *view, tm_lost *out, tm_error *err) TM_MUST_CHECK;
void tm_lost_free(tm_lost *lost);

#endif
