#include "nest.h"

void tm_nest_restart(tm_nest *nest) {
    tm_subtrack *subtracks = nest->subtracks.data;
    for (size_t i = 0; i < nest->n_used; i++) {
        subtracks[i].id = 0;
        subtracks[i].ends.n = 0;
    }
    nest->n_used = 0;
}

/* Returns whether an event fits on the sub-track. At its start, events that ended before are
 * closed. The innermost open event must then not end before the new event does. */
static bool fits(const tm_subtrack *subtrack, int64_t begin_ns, int64_t end_ns) {
    const int64_t *ends = subtrack->ends.data;
    size_t open = subtrack->ends.n;
    while (open > 0 && ends[open - 1] <= begin_ns)
        open--;
    return open == 0 || end_ns <= ends[open - 1];
}

/* Takes the first sub-track that fits. This is nearly always the first, because nearly all events
 * of a track nest. */
tm_subtrack *tm_nest_place(tm_nest *nest, int64_t begin_ns, int64_t end_ns) {
    tm_subtrack *subtracks = nest->subtracks.data;
    for (size_t i = 0; i < nest->n_used; i++)
        if (fits(&subtracks[i], begin_ns, end_ns))
            return &subtracks[i];
    if (nest->n_used == nest->subtracks.n) {
        tm_subtrack *subtrack = tm_vec_push(&nest->subtracks);
        if (!subtrack)
            return NULL;
        *subtrack = (tm_subtrack){.ends = TM_VEC(int64_t)};
    }
    return (tm_subtrack *)nest->subtracks.data + nest->n_used++;
}

bool tm_subtrack_open(tm_subtrack *subtrack, int64_t end_ns) {
    return tm_vec_append(&subtrack->ends, &end_ns, 1) != NULL;
}

bool tm_subtrack_close(tm_subtrack *subtrack, int64_t now_ns, int64_t *end_ns) {
    const int64_t *ends = subtrack->ends.data;
    if (subtrack->ends.n == 0 || ends[subtrack->ends.n - 1] > now_ns)
        return false;
    *end_ns = ends[--subtrack->ends.n];
    return true;
}

void tm_nest_free(tm_nest *nest) {
    tm_subtrack *subtracks = nest->subtracks.data;
    for (size_t i = 0; i < nest->subtracks.n; i++)
        tm_vec_free(&subtracks[i].ends);
    tm_vec_free(&nest->subtracks);
    nest->n_used = 0;
}
