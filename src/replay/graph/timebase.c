#include "timebase.h"

#include <stdlib.h>

#include "base/sorted.h"

tm_status tm_timebase_collect(const tm_timeline *timeline, tm_vec *out, tm_error *err) {
    for (size_t i = 0; i < timeline->n_spans; i++) {
        const tm_span *span = &timeline->spans[i];
        const tm_recorded_time time = {tm_rank_clock_true(&timeline->clock, span->open_ns),
                                       tm_rank_clock_true(&timeline->clock, span->end_ns)};
        if (span->n_durations > 0 && !tm_vec_append(out, &time, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

TM_ORDER_BY(by_begin, tm_recorded_time, begin_ns, end_ns);

tm_status tm_timebase_cut(tm_timebase *base, tm_vec *recorded, tm_error *err) {
    const tm_recorded_time *v = recorded->data;
    if (recorded->n == 0)
        return TM_OK;
    qsort(recorded->data, recorded->n, recorded->size, by_begin);
    /* If profilers were still starting after the root, the time until all of them had started is
     * also cut out. */
    int64_t reach_ns = base->root_ns, before_ns = 0;
    for (size_t i = 0; i < recorded->n; i++) {
        const tm_cut cut = {reach_ns, v[i].begin_ns, before_ns};
        if (v[i].begin_ns > reach_ns && !tm_vec_append(&base->cuts, &cut, 1))
            return tm_fail_memory(err);
        before_ns += v[i].begin_ns > reach_ns ? v[i].begin_ns - reach_ns : 0;
        reach_ns = v[i].end_ns > reach_ns ? v[i].end_ns : reach_ns;
    }
    return TM_OK;
}

void tm_timebase_free(tm_timebase *base) {
    tm_vec_free(&base->cuts);
}

int64_t tm_timebase_job(const tm_timebase *base, int64_t ns) {
    const tm_cut *cuts = base->cuts.data;
    int64_t job_ns = base->root_ns + ns;
    for (size_t i = 0; i < base->cuts.n && job_ns >= cuts[i].begin_ns; i++)
        job_ns += cuts[i].end_ns - cuts[i].begin_ns;
    return job_ns;
}
