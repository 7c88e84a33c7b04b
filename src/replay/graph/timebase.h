/* Replay time is the time since the root. The root is the start of the job's first GPU event, or
 * of its first step if host time at the start of this step counts (first_step.h). Replay time
 * leaves out the times in which no rank recorded. Such a time belongs to no step, and no event
 * before it is the cause of an event after it. */
#ifndef TMERGE_REPLAY_TIMEBASE_H
#define TMERGE_REPLAY_TIMEBASE_H

#include "base/vec.h"
#include "tmerge/timeline.h"

/** A time range that replay time leaves out, on the job's clock. */
typedef struct tm_cut {
    int64_t begin_ns, end_ns;
    int64_t before_ns;
} tm_cut;

typedef struct tm_timebase {
    int64_t root_ns; /* the root, on the job's clock; INT64_MAX if there is no GPU event */
    int64_t step;    /* number of the job's first step if its start is the root; else INT64_MIN */
    tm_vec cuts;     /* owned; vector of tm_cut, ascending; empty if nothing is left out */
} tm_timebase;

#define TM_TIMEBASE(root_ns) ((tm_timebase){root_ns, INT64_MIN, TM_VEC(tm_cut)})

/** Time range of one recording of a rank, on the job's clock. It starts when all profilers have
 * started (tm_span.open_ns). Sent as bytes. */
typedef struct tm_recorded_time {
    int64_t begin_ns, end_ns;
} tm_recorded_time;

/** Appends the time ranges of a rank's recordings. TM_OK; TM_ERR_FAULT. */
tm_status tm_timebase_collect(const tm_timeline *timeline, tm_vec *out,
                              tm_error *err) TM_MUST_CHECK;

/** Cuts out the times in which no rank recorded.
 * @param recorded  vector of tm_recorded_time, with the time ranges of all ranks. The function
 *                  sorts it.
 * @return          TM_OK; TM_ERR_FAULT */
tm_status tm_timebase_cut(tm_timebase *base, tm_vec *recorded, tm_error *err) TM_MUST_CHECK;

void tm_timebase_free(tm_timebase *base);

/** Converts a time of the job's clock to replay time. All times within a cut have the same replay
 * time. */
static inline int64_t tm_timebase_of(const tm_timebase *base, int64_t job_ns) {
    const tm_cut *cuts = base->cuts.data;
    size_t i = base->cuts.n;
    while (i > 0 && cuts[i - 1].begin_ns >= job_ns)
        i--;
    if (i == 0)
        return job_ns - base->root_ns;
    const tm_cut *cut = &cuts[i - 1];
    const int64_t end = job_ns < cut->end_ns ? job_ns : cut->end_ns;
    return job_ns - (end - cut->begin_ns) - cut->before_ns - base->root_ns;
}

/** Converts a replay time to the job's clock. The replay time of a cut is converted to the cut's
 * end. */
int64_t tm_timebase_job(const tm_timebase *base, int64_t ns);

#endif
