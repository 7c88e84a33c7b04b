/* What a rank's host does: interval sets over all of its threads. */
#ifndef TMERGE_HOST_TIME_H
#define TMERGE_HOST_TIME_H

#include "base/intervals.h"
#include "tmerge/analysis.h"

/** Counts and marks that show a thread's role. */
typedef struct tm_thread {
    uint32_t n_operators, n_backward;
    bool marks_steps, optimizes;
} tm_thread;

/** Times of the host by kind, over all threads. One pass over the calls finds them. */
typedef struct tm_host_time {
    tm_intervals input;         /* waits for the next batch */
    tm_intervals communication; /* calls of gloo and MPI, which run on the host */
    int64_t n_inputs;           /* number of waits for a batch */

    tm_intervals any_communication; /* calls of any communication library */
    tm_intervals sync;              /* calls that wait for the GPU */
    tm_intervals may_sync; /* calls that may wait for the GPU before they do their own work */
    tm_vec waits;       /* vector of uint32_t: rows of the calls in sync and may_sync, ascending */
    tm_thread *threads; /* owned; [n_tracks] for a stream, all members are 0 */
} tm_host_time;

/** Times of the host that are not in tm_host_time. They are most of its time. */
typedef struct tm_host_work {
    tm_intervals runtime; /* calls of the CUDA or HIP runtime and driver */
    tm_intervals cpu; /* operators and annotations (except steps) that are not in tm_host_time */
} tm_host_work;

static inline bool tm_host_is_scoped(const tm_timeline *timeline, uint32_t row) {
    return timeline->kind[row] == TM_DURATION &&
           (timeline->category[row] == TM_CAT_CPU_OP ||
            timeline->category[row] == TM_CAT_USER_ANNOTATION);
}

/** Computes the sets of a timeline. The caller frees *out and *work, also on failure. Returns
 * TM_OK; TM_ERR_FAULT. */
tm_status tm_host_time_find(const tm_timeline *timeline, struct tm_call_kinds *call_kinds,
                            tm_host_time *out, tm_host_work *work, tm_error *err) TM_MUST_CHECK;
void tm_host_time_free(tm_host_time *host);
void tm_host_work_free(tm_host_work *work);

#endif
