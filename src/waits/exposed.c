#include "exposed.h"

#include "base/intervals.h"
#include "timeline/host_comm.h"

static bool collect_compute(const tm_timeline *timeline, tm_intervals *out) {
    for (size_t row = 0; row < timeline->n_events; row++) {
        if (timeline->role[row] != TM_ROLE_COMPUTE)
            continue;
        int64_t begin = timeline->begin_ns[row];
        if (!tm_intervals_add(out, begin, begin + timeline->duration_ns[row]))
            return false;
    }
    tm_intervals_normalise(out);
    return true;
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
    const bool known = !tm_timeline_is_of_cpu(timeline);
    bool ok = n == 0 || !known || collect_compute(timeline, &compute);
    for (size_t i = 0; i < n && ok; i++)
        attrs[i].exposed_ns = known && timeline->role[attrs[i].event] == TM_ROLE_COMMUNICATION
                                  ? exposed_of(timeline, &compute, attrs[i].event)
                                  : -1;
    tm_vec_free(&compute);
    return ok ? TM_OK : tm_fail_memory(err);
}
