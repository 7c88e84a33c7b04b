#include "restarts.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "base/vec.h"

/* A communication kernel with a sequence number. */
typedef struct numbered {
    uint64_t group; /* 2 * (name id of the group), plus 1 for a send or receive. Sends and receives
                       have sequence numbers of their own. */
    int64_t begin_ns, seq;
} numbered;

int64_t tm_timeline_restarts(const tm_timeline *timeline, int64_t recorded_ns) {
    int64_t n = 0;
    for (size_t i = 0; i < timeline->n_spans; i++)
        if (timeline->spans[i].n_durations > 0 && timeline->spans[i].begin_ns <= recorded_ns)
            n += timeline->spans[i].counts[TM_COUNT_RESTART];
    return n;
}

int64_t tm_run_steps(int64_t most) {
    return most < TM_RUN_STEPS_MAX / 1000 ? TM_RUN_STEPS_MAX / 1000 : TM_RUN_STEPS_MAX;
}

void tm_timeline_restart_at(tm_timeline *timeline, const tm_span *span) {
    int64_t *count = &timeline->spans[span - timeline->spans].counts[TM_COUNT_RESTART];
    timeline->counts[TM_COUNT_RESTART] += *count == 0;
    *count = *count == 0 ? 1 : *count;
}

TM_ORDER_BY(by_begin, numbered, group, begin_ns, seq);

static bool collect(const tm_timeline *timeline, tm_vec *out) {
    const tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COLLECTIVE]; i++) {
        const tm_collective_attr *a = &attrs[i];
        const uint64_t pair = tm_collective_is_one_way(a->kind);
        const numbered kernel = {(uint64_t)a->group << 1 | pair, timeline->begin_ns[a->event],
                                 a->seq};
        if (a->seq >= 0 && timeline->role[a->event] == TM_ROLE_COMMUNICATION &&
            !tm_vec_append(out, &kernel, 1))
            return false;
    }
    return true;
}

tm_status tm_timeline_find_restarts(tm_timeline *timeline, tm_error *err) {
    tm_vec kernels = TM_VEC(numbered);
    const bool several = timeline->n_spans > 1, ok = !several || collect(timeline, &kernels);
    const numbered *v = kernels.data;
    tm_vec_sort(&kernels, by_begin);
    for (size_t i = 1; i < kernels.n; i++) {
        const tm_span *span = tm_timeline_span(timeline, v[i].begin_ns);
        if (v[i].group == v[i - 1].group && v[i].seq <= v[i - 1].seq &&
            span != tm_timeline_span(timeline, v[i - 1].begin_ns))
            tm_timeline_restart_at(timeline, span);
    }
    tm_vec_free(&kernels);
    return ok ? TM_OK : tm_fail_memory(err);
}
