#include "sanity_check.h"

#include <string.h>

#include "idents.h"
#include "trace.h"

/* Readers keep times within these limits, so that begin + duration, and the difference of two
 * starts, fit an int64. */
#define BEGIN_MIN_NS (-INT64_C(1000000000000000000))
#define BEGIN_MAX_NS INT64_C(6000000000000000000)

/* Upper limit of plausible counts. Counts of real traces are below it, and sums of such counts over
 * all ranks do not overflow. */
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

/* Returns whether a clock is plausible: wall clocks are wrong by decades at most, and no clock
 * drifts by a thousandth. */
static bool has_clock(const tm_rank_clock *clock) {
    const int64_t offset_max = INT64_C(2000000000000000000);
    const double drift_max_ppb = 1e6;
    return clock->offset_ns >= -offset_max && clock->offset_ns <= offset_max &&
           fabs(clock->drift_ppb) <= drift_max_ppb && clock->uncertainty_ns >= 0 &&
           clock->spread_ns >= 0 && clock->way <= TM_CLOCK_UNKNOWN;
}

static bool has_steps(const tm_timeline *timeline) {
    const int64_t number_end = INT64_C(1000000000000000000); /* step numbers in names have at most
                                                                18 digits */
    for (size_t i = 0; i < timeline->n_steps; i++) {
        const tm_step *step = &timeline->steps[i];
        if (!can_be_range(step->begin_ns, step->end_ns) || step->number < 0 ||
            step->number >= number_end)
            return false;
    }
    return true;
}

/* Returns whether each event is in exactly one track. */
static bool has_tracks(const tm_timeline *timeline) {
    size_t end = 0;
    for (size_t t = 0; t < timeline->n_tracks; t++) {
        const tm_track *track = &timeline->tracks[t];
        if (track->first != end || track->count > timeline->n_events - end)
            return false;
        end += track->count;
    }
    return end == timeline->n_events;
}

/* Returns whether the events of each track are sorted by begin. */
static bool ascends(const tm_timeline *rank, const tm_sanity_check_rows *piece) {
    const int64_t *begin_ns = piece->rows->begin_ns;
    int64_t before = piece->begin_before_ns;
    uint32_t at = (uint32_t)piece->first;
    size_t n = begin_ns ? piece->rows->n_events : 0, i = 0;
    for (const tm_track *t = n > 0 ? tm_timeline_track(rank, at) : NULL; i < n; t++) {
        size_t end = (size_t)t->first + t->count - piece->first;
        if (t->first >= piece->first)
            before = INT64_MIN;
        for (; i < n && i < end; before = begin_ns[i++])
            if (begin_ns[i] < before)
                return false;
    }
    return true;
}

static bool has_times(const tm_timeline *rows) {
    for (size_t i = 0; rows->begin_ns && i < rows->n_events; i++)
        if (rows->begin_ns[i] < BEGIN_MIN_NS || rows->begin_ns[i] > BEGIN_MAX_NS ||
            rows->duration_ns[i] < 0 || rows->duration_ns[i] > TM_DAY_NS)
            return false;
    return true;
}

static bool has_references(const tm_timeline *rank, const tm_timeline *rows) {
    for (size_t i = 0; rows->launch && i < rows->n_events; i++)
        if (rows->launch[i] != TM_NO_EVENT && rows->launch[i] >= rank->n_events)
            return false;
    for (size_t i = 0; rows->step && i < rows->n_events; i++)
        if (rows->step[i] != TM_NO_STEP &&
            (rows->step[i] < 0 || (size_t)rows->step[i] >= rank->n_steps))
            return false;
    return true;
}

static bool has_attrs(const tm_sanity_check_rows *piece, tm_attr attr) {
    char *attrs = piece->rows->attrs[attr];
    uint32_t last = (uint32_t)piece->first;
    for (size_t i = 0; i < piece->rows->n_attrs[attr]; i++) {
        uint32_t event = *tm_attr_event(attr, attrs + i * tm_attr_size(attr));
        if (event < last || event - piece->first >= piece->rows->n_events)
            return false;
        last = event;
    }
    return true;
}

/* Attributes may refer to further events, such as launches. Returns whether all of these events
 * exist. */
static bool has_refs(const tm_timeline *rank, const tm_timeline *rows, tm_attr attr) {
    char *attrs = rows->attrs[attr];
    for (int r = 1; r < tm_attr_n_refs(attr); r++)
        for (size_t i = 0; i < rows->n_attrs[attr]; i++) {
            uint32_t row = *tm_attr_ref(attr, attrs + i * tm_attr_size(attr), r);
            if (row != TM_NO_EVENT && row >= rank->n_events)
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

const char *tm_timeline_frame_fault(tm_timeline *timeline, size_t n_names) {
    name_check names = {n_names, true};
    tm_timeline frame = *timeline;
    if (timeline->rank < 0 || timeline->rank > TM_RANK_MAX || timeline->world_size > TM_RANK_MAX)
        return "no job has this many ranks";
    if (!has_counts(timeline->counts) || !has_spans(timeline))
        return "the data about its traces is impossible";
    if (!has_clock(&timeline->clock))
        return "its clock is impossible";
    if (!has_steps(timeline))
        return "a step has an impossible number or time";
    if (!has_tracks(timeline))
        return "its tracks do not contain its events in order";
    frame.n_events = 0;
    memset(frame.n_attrs, 0, sizeof frame.n_attrs);
    tm_timeline_each_name(&frame, check_name, &names);
    return names.good ? NULL : "the id of a text is not in the names";
}

const char *tm_rows_fault(const tm_timeline *rank, const tm_sanity_check_rows *piece,
                          size_t n_names) {
    name_check names = {n_names, true};
    tm_timeline *rows = piece->rows;
    if (!has_times(rows))
        return "an event has an impossible time";
    if (!ascends(rank, piece))
        return "its tracks do not contain its events in order";
    if (!has_references(rank, rows))
        return "an event refers to a launch or a step that does not exist";
    for (int a = 0; a < TM_N_ATTRS; a++)
        if (!has_attrs(piece, (tm_attr)a))
            return "attributes are not in the order of its events";
    if (!has_refs(rank, rows, TM_ATTR_WAIT))
        return "a wait refers to a call that does not exist";
    if (!has_refs(rank, rows, TM_ATTR_OPERATOR))
        return "an operator refers to an operator that does not exist";
    for (size_t i = 0; rows->name && i < rows->n_events; i++)
        check_name(&names, &rows->name[i]);
    for (int a = 0; a < TM_N_ATTRS; a++)
        tm_attr_each_name((tm_attr)a, rows->attrs[a], rows->n_attrs[a], check_name, &names);
    return names.good ? NULL : "the id of a text is not in the names";
}

const char *tm_timeline_fault(tm_timeline *timeline, size_t n_names) {
    const tm_sanity_check_rows all = {timeline, 0, INT64_MIN};
    const char *fault = tm_timeline_frame_fault(timeline, n_names);
    return fault ? fault : tm_rows_fault(timeline, &all, n_names);
}
