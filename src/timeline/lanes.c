#include "timeline/lanes.h"

/* Union of events for each kind of work. The unions may overlap. */
typedef struct unions {
    tm_intervals compute, copies, communication, wait, transfer;
} unions;

static bool add_event(const tm_rank_clock *clock, const tm_timeline *piece, size_t i, unions *u) {
    tm_intervals *of[] = {NULL, &u->compute, &u->communication, &u->copies};
    tm_intervals *set = of[piece->role[i]];
    if (!set)
        return true;
    int64_t begin = tm_rank_clock_true(clock, piece->begin_ns[i]);
    return tm_intervals_add(set, begin, begin + piece->duration_ns[i]);
}

/* Adds the wait and the transfer of a communication kernel. The wait comes first. */
static bool add_wait(const tm_rank_clock *clock, const tm_timeline *piece, size_t first,
                     const tm_collective_attr *attr, unions *u) {
    size_t i = attr->event - first;
    if (attr->wait_ns < 0)
        return true;
    int64_t begin = tm_rank_clock_true(clock, piece->begin_ns[i]);
    int64_t end = begin + piece->duration_ns[i];
    int64_t last = attr->wait_ns < end - begin ? begin + attr->wait_ns : end;
    return tm_intervals_add(&u->wait, begin, last) && tm_intervals_add(&u->transfer, last, end);
}

static bool add_piece(const tm_rank_clock *clock, const tm_timeline *piece, size_t first,
                      unions *u) {
    const tm_collective_attr *attrs = piece->attrs[TM_ATTR_COLLECTIVE];
    bool ok = true;
    for (size_t i = 0; i < piece->n_events && ok; i++)
        ok = add_event(clock, piece, i, u);
    for (size_t i = 0; i < piece->n_attrs[TM_ATTR_COLLECTIVE] && ok; i++)
        ok = add_wait(clock, piece, first, &attrs[i], u);
    return ok;
}

static tm_status unite(const tm_timeline *timeline, const tm_event_rows *rows, unions *u,
                       tm_error *err) {
    const unsigned what = TM_ROWS_TIMES | TM_ROWS_KINDS | TM_ROWS_ATTRS;
    const tm_timeline *piece = NULL;
    for (size_t row = 0, first = 0; row < timeline->n_events; row = first + piece->n_events) {
        TM_TRY(tm_event_rows_next(rows, timeline, what, &first, &piece, err));
        if (!add_piece(&timeline->clock, piece, first, u))
            return tm_fail_memory(err);
    }
    tm_intervals_normalise(&u->compute);
    tm_intervals_normalise(&u->copies);
    tm_intervals_normalise(&u->communication);
    tm_intervals_normalise(&u->wait);
    tm_intervals_normalise(&u->transfer);
    return TM_OK;
}

tm_status tm_lanes_make(const tm_timeline *timeline, const tm_event_rows *rows, tm_lanes *out,
                        tm_error *err) {
    unions u = {TM_INTERVALS(), TM_INTERVALS(), TM_INTERVALS(), TM_INTERVALS(), TM_INTERVALS()};
    tm_intervals rest = TM_INTERVALS();
    for (int k = 0; k < TM_N_LANE_KINDS; k++)
        out->kinds[k] = TM_INTERVALS();
    tm_status status = unite(timeline, rows, &u, err);
    bool ok = status == TM_OK &&
              tm_intervals_subtract(&u.copies, &u.compute, &out->kinds[TM_LANE_COPIES]) &&
              tm_intervals_subtract(&u.wait, &u.transfer, &out->kinds[TM_LANE_WAIT]) &&
              tm_intervals_subtract(&u.communication, &u.wait, &rest) &&
              tm_intervals_subtract(&rest, &u.transfer, &out->kinds[TM_LANE_UNMATCHED]);
    out->kinds[TM_LANE_COMPUTE] = u.compute;
    out->kinds[TM_LANE_TRANSFER] = u.transfer;
    TM_VECS_FREE(&u.copies, &u.communication, &u.wait, &rest);
    return ok || status != TM_OK ? status : tm_fail_memory(err);
}

void tm_lanes_free(tm_lanes *lanes) {
    for (int k = 0; k < TM_N_LANE_KINDS; k++)
        tm_vec_free(&lanes->kinds[k]);
}
