/* Launches without any recorded GPU event, and when the GPU may have run their kernels. */
#ifndef TMERGE_LOST_H
#define TMERGE_LOST_H

#include "base/intervals.h"
#include "tmerge/analysis.h"

typedef struct tm_lost {
    int64_t launches; /* calls that launch kernels or graphs */
    int64_t lost;     /* launches without a recorded GPU event */
    int64_t graphs;   /* graph launches among the lost */
    int64_t between;  /* launches from the first to the last with a recorded event */
    int64_t lost_between;
    int64_t steps;       /* steps marked by the trace */
    int64_t steps_lost;  /* marked steps with launches but no recorded kernel */
    tm_intervals hidden; /* times when devices may have run lost launches, with nothing recorded */
    int64_t hidden_ns;   /* [ns] the same summed over devices, each against its own events; a launch
                            counts for its device if known */
    bool known;          /* the trace contains launches */
    bool sampled;        /* most calls between the recorded ones are not in the trace */
} tm_lost;

/**
 * Finds lost launches. Launches during the capture of a graph run nothing. A graph lacks its
 * computing kernels if only copies were recorded of it, or communication during which the device
 * was mostly idle: a graph runs without the host and waits for nothing. Launches shortly before the
 * first recorded event, or still queued when the recording ends, normally have no event.
 *
 * A trace is a sample if the numbers of its calls are far apart.
 *
 * @param out  free it with tm_lost_free, even on failure
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_lost_find(const tm_rank_view *view, tm_lost *out, tm_error *err) TM_MUST_CHECK;
void tm_lost_free(tm_lost *lost);

#endif
