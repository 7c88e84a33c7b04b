#include "timeline/lanes.h"

/* Before they are told apart: the unions of what each event is. */
typedef struct unions {
    tm_intervals compute, copies, communication, wait, transfer;
} unions;

static bool add_event(const tm_timeline *timeline, size_t row, unions *u) {
    tm_intervals *of[] = {NULL, &u->compute, &u->communication, &u->copies};
    tm_intervals *set = of[timeline->role[row]];
    if (!set)
        return true;
    int64_t begin = tm_rank_clock_true(&timeline->clock, timeline->begin_ns[row]);
    return tm_intervals_add(set, begin, begin + timeline->duration_ns[row]);
}

/* A kernel waits first and transfers then. */
static bool add_wait(const tm_timeline *timeline, const tm_collective_attr *attr, unions *u) {
    if (attr->wait_ns < 0)
        return true;
    int64_t begin = tm_rank_clock_true(&timeline->clock, timeline->begin_ns[attr->event]);
    int64_t end = begin + timeline->duration_ns[attr->event];
    int64_t last = attr->wait_ns < end - begin ? begin + attr->wait_ns : end;
    return tm_intervals_add(&u->wait, begin, last) && tm_intervals_add(&u->transfer, last, end);
}

static bool unite(const tm_timeline *timeline, unions *u) {
    const tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    bool ok = true;
    for (size_t row = 0; row < timeline->n_events && ok; row++)
        ok = add_event(timeline, row, u);
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COLLECTIVE] && ok; i++)
        ok = add_wait(timeline, &attrs[i], u);
    tm_intervals_normalise(&u->compute);
    tm_intervals_normalise(&u->copies);
    tm_intervals_normalise(&u->communication);
    tm_intervals_normalise(&u->wait);
    tm_intervals_normalise(&u->transfer);
    return ok;
}

tm_status tm_lanes_make(const tm_timeline *timeline, tm_lanes *out, tm_error *err) {
    unions u = {TM_INTERVALS(), TM_INTERVALS(), TM_INTERVALS(), TM_INTERVALS(), TM_INTERVALS()};
    tm_intervals rest = TM_INTERVALS();
    for (int k = 0; k < TM_N_LANE_KINDS; k++)
        out->kinds[k] = TM_INTERVALS();
    bool ok = unite(timeline, &u) &&
              tm_intervals_subtract(&u.copies, &u.compute, &out->kinds[TM_LANE_COPIES]) &&
              tm_intervals_subtract(&u.wait, &u.transfer, &out->kinds[TM_LANE_WAIT]) &&
              tm_intervals_subtract(&u.communication, &u.wait, &rest) &&
              tm_intervals_subtract(&rest, &u.transfer, &out->kinds[TM_LANE_UNMATCHED]);
    out->kinds[TM_LANE_COMPUTE] = u.compute;
    out->kinds[TM_LANE_TRANSFER] = u.transfer;
    tm_vec_free(&u.copies);
    tm_vec_free(&u.communication);
    tm_vec_free(&u.wait);
    tm_vec_free(&rest);
    return ok ? TM_OK : tm_fail_memory(err);
}

void tm_lanes_free(tm_lanes *lanes) {
    for (int k = 0; k < TM_N_LANE_KINDS; k++)
        tm_vec_free(&lanes->kinds[k]);
}
