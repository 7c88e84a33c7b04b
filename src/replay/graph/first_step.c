#include "first_step.h"

#include <stdlib.h>

#include "timeline/host_comm.h"

/* Sets the time of the first launch of each step; INT64_MAX if the step has no GPU event. */
static void find_launches(const tm_timeline *t, int64_t *launch_ns) {
    for (size_t k = 0; k < t->n_steps; k++)
        launch_ns[k] = INT64_MAX;
    for (uint32_t row = 0; row < tm_timeline_work_end(t); row++) {
        if (t->role[row] == TM_ROLE_NONE || t->step[row] == TM_NO_STEP)
            continue;
        const uint32_t launch = t->launch[row];
        const int64_t ns = t->begin_ns[launch == TM_NO_EVENT ? row : launch];
        int64_t *least = &launch_ns[t->step[row]];
        *least = ns < *least ? ns : *least;
    }
}

static bool is_host_work(const tm_timeline *t, uint32_t row) {
    return t->kind[row] == TM_DURATION && t->category[row] != TM_CAT_RUNTIME &&
           t->category[row] != TM_CAT_DRIVER && !tm_timeline_is_step(t, row);
}

/* Returns how long the events of one thread take in [from, to). */
static int64_t busy_on(const tm_timeline *t, const tm_track *track, int64_t from, int64_t to) {
    int64_t sum = 0, reach = from;
    for (uint32_t row = track->first; row < track->first + track->count; row++) {
        const int64_t end = t->begin_ns[row] + t->duration_ns[row];
        const int64_t begin = t->begin_ns[row] > reach ? t->begin_ns[row] : reach;
        if (t->begin_ns[row] >= to)
            break;
        if (end <= reach || !is_host_work(t, row))
            continue;
        reach = end < to ? end : to;
        sum += reach > begin ? reach - begin : 0;
    }
    return sum;
}

/* Returns whether a thread recorded events for at least half of [from, to). */
static bool is_recorded(const tm_timeline *t, int64_t from, int64_t to) {
    bool found = false;
    for (size_t k = 0; k < t->n_tracks && !found; k++)
        found = t->tracks[k].kind == TM_TRACK_CPU &&
                busy_on(t, &t->tracks[k], from, to) >= (to - from) / 2;
    return found;
}

/* Returns whether the time before the launches of step @p first is usual (see the header). */
static bool is_usual(const tm_timeline *t, const int64_t *launch_ns, size_t first) {
    const tm_step *step = &t->steps[first];
    const int64_t own = launch_ns[first] - step->begin_ns;
    int64_t most = -1;
    for (size_t k = first + 1; k < t->n_steps; k++)
        if (launch_ns[k] != INT64_MAX && launch_ns[k] - t->steps[k].begin_ns > most)
            most = launch_ns[k] - t->steps[k].begin_ns;
    if (own <= (step->end_ns - step->begin_ns) / 100)
        return true;
    return most >= 0 ? own / 2 <= most : is_recorded(t, step->begin_ns, launch_ns[first]);
}

tm_status tm_first_step_find(const tm_timeline *timeline, tm_first_step *out, tm_error *err) {
    size_t first = 0;
    *out = (tm_first_step){.number = INT64_MAX};
    if (timeline->n_steps == 0 || !timeline->steps[0].annotated)
        return TM_OK;
    int64_t *launch_ns = malloc(timeline->n_steps * sizeof *launch_ns);
    if (!launch_ns)
        return tm_fail_memory(err);
    find_launches(timeline, launch_ns);
    while (first < timeline->n_steps && launch_ns[first] == INT64_MAX)
        first++;
    if (first < timeline->n_steps) {
        const tm_step *step = &timeline->steps[first];
        *out = (tm_first_step){step->number, tm_rank_clock_true(&timeline->clock, step->begin_ns),
                               is_usual(timeline, launch_ns, first)};
    }
    free(launch_ns);
    return TM_OK;
}
