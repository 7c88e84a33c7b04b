#include "nest.h"

void tm_nest_restart(tm_nest *nest) {
    tm_lane *lanes = nest->lanes.data;
    for (size_t i = 0; i < nest->n_used; i++) {
        lanes[i].id = 0;
        lanes[i].ends.n = 0;
    }
    nest->n_used = 0;
}

/* Returns whether an event fits on the sub-track. At its start, events that ended before are
 * closed. The innermost open event must then not end before the new event does. */
static bool fits(const tm_lane *lane, int64_t begin_ns, int64_t end_ns) {
    const int64_t *ends = lane->ends.data;
    size_t open = lane->ends.n;
    while (open > 0 && ends[open - 1] <= begin_ns)
        open--;
    return open == 0 || end_ns <= ends[open - 1];
}

/* Takes the first sub-track that fits. This is nearly always the first, because nearly all events
 * of a track nest. */
tm_lane *tm_nest_place(tm_nest *nest, int64_t begin_ns, int64_t end_ns) {
    tm_lane *lanes = nest->lanes.data;
    for (size_t i = 0; i < nest->n_used; i++)
        if (fits(&lanes[i], begin_ns, end_ns))
            return &lanes[i];
    if (nest->n_used == nest->lanes.n) {
        tm_lane *lane = tm_vec_push(&nest->lanes);
        if (!lane)
            return NULL;
        *lane = (tm_lane){.ends = TM_VEC(int64_t)};
    }
    return (tm_lane *)nest->lanes.data + nest->n_used++;
}

bool tm_lane_open(tm_lane *lane, int64_t end_ns) {
    return tm_vec_append(&lane->ends, &end_ns, 1) != NULL;
}

bool tm_lane_close(tm_lane *lane, int64_t now_ns, int64_t *end_ns) {
    const int64_t *ends = lane->ends.data;
    if (lane->ends.n == 0 || ends[lane->ends.n - 1] > now_ns)
        return false;
    *end_ns = ends[--lane->ends.n];
    return true;
}

void tm_nest_free(tm_nest *nest) {
    tm_lane *lanes = nest->lanes.data;
    for (size_t i = 0; i < nest->lanes.n; i++)
        tm_vec_free(&lanes[i].ends);
    tm_vec_free(&nest->lanes);
    nest->n_used = 0;
}
