#include "exposed.h"

#include "base/intervals.h"
#include "timeline/host_comm.h"

/* Collects the union of the events of a role. */
static bool collect(const tm_timeline *timeline, tm_role role, tm_intervals *out) {
    const uint32_t end = tm_timeline_work_end(timeline);
    for (uint32_t row = 0; row < end; row++) {
        if (timeline->role[row] != role)
            continue;
        int64_t begin = timeline->begin_ns[row];
        if (!tm_intervals_add(out, begin, begin + timeline->duration_ns[row]))
            return false;
    }
    tm_intervals_normalise(out);
    return true;
}

/* Collects the time in which the rank computes, as the table overlap.rank defines it. */
static bool collect_compute(const tm_timeline *timeline, tm_intervals *out) {
    tm_intervals communication = TM_INTERVALS();
    bool ok = collect(timeline, TM_ROLE_COMPUTE, out);
    if (ok && tm_timeline_is_of_cpu(timeline))
        ok = collect(timeline, TM_ROLE_COMMUNICATION, &communication) &&
             tm_timeline_add_hidden(timeline, &communication, out);
    tm_vec_free(&communication);
    return ok;
}

static int64_t exposed_of(const tm_timeline *timeline, const tm_intervals *compute, uint32_t row) {
    int64_t begin = timeline->begin_ns[row], end = begin + timeline->duration_ns[row];
    begin = tm_opened(timeline, begin);
    return end > begin ? end - begin - tm_intervals_length_in(compute, begin, end) : 0;
}

tm_status tm_exposed_set(tm_timeline *timeline, tm_error *err) {
    tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    const size_t n = timeline->n_attrs[TM_ATTR_COLLECTIVE];
    tm_intervals compute = TM_INTERVALS();
    bool ok = n == 0 || collect_compute(timeline, &compute);
    for (size_t i = 0; i < n && ok; i++)
        attrs[i].exposed_ns = timeline->role[attrs[i].event] == TM_ROLE_COMMUNICATION
                                  ? exposed_of(timeline, &compute, attrs[i].event)
                                  : -1;
    tm_vec_free(&compute);
    return ok ? TM_OK : tm_fail_memory(err);
}
