/* What the times of a replay count from. They are the job's, since its first GPU event, without the
 * time in which no rank was recorded: what lies between two recordings of a run is no step's time,
 * and no cause waits through it. */
#ifndef TMERGE_REPLAY_TIMEBASE_H
#define TMERGE_REPLAY_TIMEBASE_H

#include "base/vec.h"
#include "tmerge/timeline.h"

/** Time that is left out, on the job's clock, with that of all cuts before it. */
typedef struct tm_cut {
    int64_t begin_ns, end_ns;
    int64_t before_ns;
} tm_cut;

typedef struct tm_timebase {
    int64_t root_ns; /* the job's first GPU begin, on the job's clock; INT64_MAX without any */
    tm_vec cuts;     /* owned; of tm_cut, ascending; none where the job has one recording */
} tm_timebase;

#define TM_TIMEBASE(root_ns) ((tm_timebase){root_ns, TM_VEC(tm_cut)})

/** The time of a recording of some rank, on the job's clock. Sent as bytes. */
typedef struct tm_recorded_time {
    int64_t begin_ns, end_ns;
} tm_recorded_time;

/** Adds the times of a rank's recordings, to be cut between. TM_OK; TM_ERR_FAULT. */
tm_status tm_timebase_collect(const tm_timeline *timeline, tm_vec *out,
                              tm_error *err) TM_MUST_CHECK;

/** Cuts what lies between the recordings of all ranks. @param recorded  of tm_recorded_time;
 * sorted  @return TM_OK; TM_ERR_FAULT */
tm_status tm_timebase_cut(tm_timebase *base, tm_vec *recorded, tm_error *err) TM_MUST_CHECK;

void tm_timebase_free(tm_timebase *base);

/** A time of the job's clock in the replay; one that is left out is where its cut is. */
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

/** The time of the job's clock that a time of the replay was; at a cut what follows it. */
int64_t tm_timebase_job(const tm_timebase *base, int64_t ns);

#endif
