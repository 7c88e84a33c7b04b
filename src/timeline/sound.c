#include "sound.h"

#include "idents.h"
#include "trace.h"

/* Readers keep to it: the sum of a begin and a duration, and the distance of two begins, fit. */
#define BEGIN_MIN_NS (-INT64_C(1000000000000000000))
#define BEGIN_MAX_NS INT64_C(6000000000000000000)

/* Above any count of a real trace, and so small that the sums over all ranks fit. */
#define COUNT_MAX (INT64_C(1) << 40)

static bool can_be_time(int64_t ns) {
    return ns >= BEGIN_MIN_NS && ns <= BEGIN_MAX_NS + TM_DAY_NS;
}

static bool can_be_range(int64_t begin_ns, int64_t end_ns) {
    return can_be_time(begin_ns) && can_be_time(end_ns) && begin_ns <= end_ns;
}

static bool can_be_count(int64_t n) {
    return n >= 0 && n <= COUNT_MAX;
}

static bool has_counts(const int64_t *counts) {
    for (int c = 0; c < TM_N_COUNTS; c++)
        if (!can_be_count(counts[c]))
            return false;
    return true;
}

static bool has_spans(const tm_timeline *timeline) {
    for (size_t i = 0; i < timeline->n_spans; i++) {
        const tm_span *span = &timeline->spans[i];
        if (!can_be_range(span->begin_ns, span->end_ns) ||
            !can_be_range(span->gpu_begin_ns, span->gpu_end_ns) ||
            !can_be_count(span->n_durations) || !can_be_count(span->n_gpu_events) ||
            !has_counts(span->counts))
            return false;
    }
    return timeline->n_spans > 0;
}

/* Wall clocks are decades off at most; a job's clock is not as slow as to lose a thousandth. */
static bool has_clock(const tm_rank_clock *clock) {
    const int64_t offset_max = INT64_C(2000000000000000000);
    const double drift_max_ppb = 1e6;
    return clock->offset_ns >= -offset_max && clock->offset_ns <= offset_max &&
           fabs(clock->drift_ppb) <= drift_max_ppb && clock->uncertainty_ns >= 0 &&
           clock->spread_ns >= 0 && clock->way <= TM_CLOCK_UNKNOWN;
}

static bool has_steps(const tm_timeline *timeline) {
    const int64_t number_end = INT64_C(1000000000000000000); /* names have 18 digits at most */
    for (size_t i = 0; i < timeline->n_steps; i++) {
        const tm_step *step = &timeline->steps[i];
        if (!can_be_range(step->begin_ns, step->end_ns) || step->number < 0 ||
            step->number >= number_end)
            return false;
    }
    return true;
}

/* Each event is in one track, and a track ascends in begin. */
static bool has_tracks(const tm_timeline *timeline) {
    size_t end = 0;
    for (size_t t = 0; t < timeline->n_tracks; t++) {
        const tm_track *track = &timeline->tracks[t];
        if (track->first != end || track->count > timeline->n_events - end)
            return false;
        end += track->count;
        for (size_t row = (size_t)track->first + 1; row < end; row++)
            if (timeline->begin_ns[row] < timeline->begin_ns[row - 1])
                return false;
    }
    return end == timeline->n_events;
}

static bool has_times(const tm_timeline *timeline) {
    for (size_t row = 0; row < timeline->n_events; row++)
        if (timeline->begin_ns[row] < BEGIN_MIN_NS || timeline->begin_ns[row] > BEGIN_MAX_NS ||
            timeline->duration_ns[row] < 0 || timeline->duration_ns[row] > TM_DAY_NS)
            return false;
    return true;
}

static bool has_references(const tm_timeline *timeline) {
    for (size_t row = 0; row < timeline->n_events; row++) {
        bool launch =
            timeline->launch[row] == TM_NO_EVENT || timeline->launch[row] < timeline->n_events;
        bool step = timeline->step[row] == TM_NO_STEP ||
                    (timeline->step[row] >= 0 && (size_t)timeline->step[row] < timeline->n_steps);
        if (!launch || !step)
            return false;
    }
    return true;
}

static bool has_attrs(const tm_timeline *timeline, tm_attr attr) {
    char *rows = timeline->attrs[attr];
    uint32_t last = 0;
    for (size_t i = 0; i < timeline->n_attrs[attr]; i++) {
        uint32_t event = *tm_attr_event(attr, rows + i * tm_attr_size(attr));
        if (event < last || event >= timeline->n_events)
            return false;
        last = event;
    }
    return true;
}

/* What its rows refer to besides their own events. */
static bool has_refs(const tm_timeline *timeline, tm_attr attr) {
    char *rows = timeline->attrs[attr];
    for (int r = 1; r < tm_attr_n_refs(attr); r++)
        for (size_t i = 0; i < timeline->n_attrs[attr]; i++) {
            uint32_t row = *tm_attr_ref(attr, rows + i * tm_attr_size(attr), r);
            if (row != TM_NO_EVENT && row >= timeline->n_events)
                return false;
        }
    return true;
}

typedef struct name_check {
    size_t n_names;
    bool good;
} name_check;

static void check_name(void *context, uint32_t *id) {
    name_check *check = context;
    check->good = check->good && *id < check->n_names;
}

const char *tm_timeline_fault(tm_timeline *timeline, size_t n_names) {
    name_check names = {n_names, true};
    if (timeline->rank < 0 || timeline->rank > TM_RANK_MAX || timeline->world_size > TM_RANK_MAX)
        return "no job has as many ranks";
    if (!has_counts(timeline->counts) || !has_spans(timeline))
        return "what is told of its traces cannot be";
    if (!has_clock(&timeline->clock))
        return "its clock cannot be";
    if (!has_steps(timeline))
        return "a step has a number or a time that cannot be";
    if (!has_times(timeline))
        return "an event has a time that cannot be";
    if (!has_tracks(timeline))
        return "its tracks do not hold its events in order";
    if (!has_references(timeline))
        return "an event refers to a launch or a step that it does not have";
    for (int a = 0; a < TM_N_ATTRS; a++)
        if (!has_attrs(timeline, (tm_attr)a))
            return "attributes are not in the order of its events";
    if (!has_refs(timeline, TM_ATTR_WAIT))
        return "a wait refers to a call that it does not have";
    if (!has_refs(timeline, TM_ATTR_OPERATOR))
        return "an operator refers to one that it does not have";
    tm_timeline_each_name(timeline, check_name, &names);
    return names.good ? NULL : "a text is not among the names";
}
