/* What a rank's host does, as interval sets over all of its threads. */
#ifndef TMERGE_HOST_TIME_H
#define TMERGE_HOST_TIME_H

#include "base/intervals.h"
#include "tmerge/analysis.h"

/** What a thread is, by the operators and annotations that it holds. */
typedef struct tm_thread {
    uint32_t n_operators, n_backward;
    bool marks_steps, optimizes;
} tm_thread;

/** All of what calls on threads tell by their names, found in one walk over them. */
typedef struct tm_host_time {
    tm_intervals input;         /* waiting for the next batch */
    tm_intervals communication; /* of gloo, which runs on the host */
    int64_t n_inputs;           /* waits for a batch */

    tm_intervals any_communication; /* in calls of any library that communicates */
    tm_intervals sync;              /* in calls that wait for the GPU, */
    tm_intervals may_sync;          /* in those that may before they do their own work, and */
    tm_vec waits;                   /* of uint32_t: the rows of both, ascending */
    tm_thread *threads;             /* [n_tracks], 0 for streams; owned */
} tm_host_time;

/** What is left of that: most of what the host does. */
typedef struct tm_host_work {
    tm_intervals runtime; /* calls of the CUDA or HIP runtime and driver */
    tm_intervals cpu;     /* operators and annotations, none of tm_host_time and no step */
} tm_host_work;

/** Operators and annotations: what a name can tell a phase of. Calls of the runtime have none. */
static inline bool tm_host_is_scoped(const tm_timeline *timeline, uint32_t row) {
    return timeline->kind[row] == TM_DURATION &&
           (timeline->category[row] == TM_CAT_CPU_OP ||
            timeline->category[row] == TM_CAT_USER_ANNOTATION);
}

/** Computes the sets of a timeline; release them with the functions below whatever comes of it.
 * TM_OK; TM_ERR_FAULT where memory is out. */
tm_status tm_host_time_find(const tm_timeline *timeline, struct tm_call_kinds *call_kinds,
                            tm_host_time *out, tm_host_work *work, tm_error *err) TM_MUST_CHECK;
void tm_host_time_free(tm_host_time *host);
void tm_host_work_free(tm_host_work *work);

#endif
