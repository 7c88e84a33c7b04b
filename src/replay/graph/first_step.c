#include "first_step.h"

#include <stdlib.h>

#include "host_shift.h"
#include "timeline/host_comm.h"

/* A first event that starts at most this long after its launch did not wait for earlier work. */
static const int64_t QUEUE_NS = 100000;

static uint32_t launch_of(const tm_timeline *t, uint32_t row) {
    return t->launch[row] == TM_NO_EVENT ? row : t->launch[row];
}

/* Sets the GPU event of each step that was launched first; TM_NO_EVENT if the step has none. */
static void find_launched(const tm_timeline *t, uint32_t *launched) {
    for (size_t k = 0; k < t->n_steps; k++)
        launched[k] = TM_NO_EVENT;
    for (uint32_t row = 0; row < tm_timeline_work_end(t); row++) {
        if (t->role[row] == TM_ROLE_NONE || t->step[row] == TM_NO_STEP)
            continue;
        uint32_t *first = &launched[t->step[row]];
        if (*first == TM_NO_EVENT ||
            t->begin_ns[launch_of(t, row)] < t->begin_ns[launch_of(t, *first)])
            *first = row;
    }
}

/* Returns the time from the start of a step to its first launch [ns]. */
static int64_t host_ns(const tm_timeline *t, const uint32_t *launched, size_t step) {
    return t->begin_ns[launch_of(t, launched[step])] - t->steps[step].begin_ns;
}

/* Returns whether the first event of a step waited for earlier work, which may be unrecorded. */
static bool is_queued(const tm_timeline *t, uint32_t row, int64_t little_ns) {
    const uint32_t launch = launch_of(t, row);
    const int64_t ns = t->begin_ns[row] - t->begin_ns[launch] - t->duration_ns[launch];
    return launch != row && ns > (little_ns > QUEUE_NS ? little_ns : QUEUE_NS);
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

/* Returns whether the time before the first launch of step @p first is usual (see the header). */
static bool is_usual(const tm_timeline *t, const uint32_t *launched, size_t first) {
    const tm_step *step = &t->steps[first];
    const int64_t own = host_ns(t, launched, first), little = (step->end_ns - step->begin_ns) / 100;
    int64_t most = -1;
    for (size_t k = first + 1; k < t->n_steps; k++)
        if (launched[k] != TM_NO_EVENT && host_ns(t, launched, k) > most)
            most = host_ns(t, launched, k);
    if (is_queued(t, launched[first], little))
        return false;
    return own <= little ||
           (most >= 0 ? own / 2 <= most : is_recorded(t, step->begin_ns, step->begin_ns + own));
}

tm_status tm_first_step_find(const tm_timeline *timeline, tm_call_classes *classes,
                             tm_first_step *out, tm_error *err) {
    size_t first = 0;
    *out = (tm_first_step){.number = INT64_MAX};
    if (timeline->n_steps == 0 || !timeline->steps[0].annotated)
        return TM_OK;
    uint32_t *launched = malloc(timeline->n_steps * sizeof *launched);
    if (!launched)
        return tm_fail_memory(err);
    find_launched(timeline, launched);
    while (first < timeline->n_steps && launched[first] == TM_NO_EVENT)
        first++;
    if (first < timeline->n_steps) {
        const tm_step *step = &timeline->steps[first];
        *out = (tm_first_step){step->number,
                               tm_rank_clock_true(&timeline->clock, step->begin_ns) +
                                   tm_host_shift(timeline, classes),
                               is_usual(timeline, launched, first)};
    }
    free(launched);
    return TM_OK;
}
