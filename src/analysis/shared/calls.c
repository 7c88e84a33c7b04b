#include "calls.h"

#include <stdlib.h>

#include "base/vec.h"
#include "call_kinds.h"

/* A call of the current thread that has not ended. */
typedef struct open_call {
    int64_t begin_ns, end_ns;
    int64_t covered_ns; /* time before this is already divided between the call and its children */
    uint32_t call;
} open_call;

typedef struct walk {
    const tm_timeline *timeline;
    tm_vec calls; /* vector of tm_call */
    tm_vec open;  /* vector of open_call, innermost last */
    uint32_t *above;
} walk;

static open_call *innermost(walk *w) {
    return w->open.n > 0 ? (open_call *)w->open.data + w->open.n - 1 : NULL;
}

/* Pops the calls that have ended before an event begins. A call without duration contains events
 * that start at the same time. */
static void leave_ended(walk *w, int64_t begin_ns) {
    for (open_call *top; (top = innermost(w)) != NULL; w->open.n--)
        if (top->end_ns > begin_ns || (top->end_ns == begin_ns && top->begin_ns == begin_ns))
            return;
}

/* Pops the calls that end before a new call ends, because they cannot contain it. */
static void leave_crossed(walk *w, int64_t end_ns) {
    for (open_call *top; (top = innermost(w)) != NULL; w->open.n--)
        if (top->end_ns >= end_ns)
            return;
}

/* Subtracts [begin, end) from the self time of the innermost call. No time is subtracted twice.
 * Must be called in the order of starts. */
static void cover(walk *w, int64_t begin_ns, int64_t end_ns) {
    open_call *top = innermost(w);
    if (!top)
        return;
    begin_ns = begin_ns > top->covered_ns ? begin_ns : top->covered_ns;
    end_ns = end_ns < top->end_ns ? end_ns : top->end_ns;
    if (end_ns <= begin_ns)
        return;
    ((tm_call *)w->calls.data)[top->call].self_ns -= end_ns - begin_ns;
    top->covered_ns = end_ns;
}

/* Adds a call. First pops the open calls that end before the new call ends, because they cannot
 * contain the new call. */
static bool enter(walk *w, uint32_t row) {
    int64_t begin = w->timeline->begin_ns[row], end = begin + w->timeline->duration_ns[row];
    leave_crossed(w, end);
    cover(w, begin, end);
    const open_call *top = innermost(w);
    uint32_t parent = top ? top->call : TM_NO_CALL;
    const open_call opened = {begin, end, begin, (uint32_t)w->calls.n};
    tm_call *call = tm_vec_push(&w->calls);
    open_call *open = tm_vec_push(&w->open);
    if (!call || !open)
        return false;
    w->above[row] = parent;
    *call = (tm_call){row, parent, w->timeline->duration_ns[row]};
    *open = opened;
    return true;
}

static bool is_of(const tm_call_class *class, const tm_timeline *timeline, uint32_t row) {
    return (class->categories >> timeline->category[row] & 1) != 0 &&
           timeline->kind[row] == TM_DURATION &&
           (!class->is_call || class->is_call(class->context, timeline, row));
}

/* Finds the calls of a thread. Its rows are sorted by start, longer events first. So when an event
 * comes, all calls that may contain it are open. */
static bool walk_thread(walk *w, const tm_track *track, const tm_call_class *class) {
    const tm_timeline *timeline = w->timeline;
    w->open.n = 0;
    for (uint32_t row = track->first; row < track->first + track->count; row++) {
        bool is_call = is_of(class, timeline, row);
        if (w->open.n == 0 && !is_call) {
            w->above[row] = TM_NO_CALL;
            continue;
        }
        int64_t begin = timeline->begin_ns[row];
        leave_ended(w, begin);
        if (is_call) {
            if (!enter(w, row))
                return false;
            continue;
        }
        const open_call *top = innermost(w);
        w->above[row] = top ? top->call : TM_NO_CALL;
        if (timeline->category[row] == TM_CAT_RUNTIME || timeline->category[row] == TM_CAT_DRIVER)
            cover(w, begin, begin + timeline->duration_ns[row]);
    }
    return true;
}

/* GPU events come last, because their launch may be on a later track. */
static void place_gpu_events(const tm_timeline *timeline, uint32_t *above) {
    for (size_t t = 0; t < timeline->n_tracks; t++) {
        const tm_track *track = &timeline->tracks[t];
        if (track->kind != TM_TRACK_GPU)
            continue;
        for (uint32_t row = track->first; row < track->first + track->count; row++) {
            uint32_t call = tm_timeline_asked(timeline, row);
            above[row] = call == TM_NO_EVENT ? TM_NO_CALL : above[call];
        }
    }
}

tm_status tm_calls_find(const tm_timeline *timeline, tm_call_class class, tm_calls *out,
                        tm_error *err) {
    walk w = {.timeline = timeline, .calls = TM_VEC(tm_call), .open = TM_VEC(open_call)};
    w.above = malloc((timeline->n_events + 1) * sizeof *w.above);
    bool ok = w.above != NULL;
    for (size_t t = 0; t < timeline->n_tracks && ok; t++)
        if (timeline->tracks[t].kind == TM_TRACK_CPU)
            ok = walk_thread(&w, &timeline->tracks[t], &class);
    if (ok)
        place_gpu_events(timeline, w.above);
    tm_vec_free(&w.open);
    tm_vec_trim(&w.calls);
    *out = (tm_calls){.calls = w.calls.data, .n = w.calls.n, .above = w.above};
    return ok ? TM_OK : tm_fail_memory(err);
}

void tm_calls_free(tm_calls *calls) {
    free(calls->calls);
    free(calls->above);
    *calls = (tm_calls){0};
}

static bool is_operator(void *context, const tm_timeline *timeline, uint32_t row) {
    return !tm_call_kind_is_scope(tm_call_kinds_of(context, timeline, row));
}

tm_status tm_calls_find_operators(const tm_timeline *timeline, struct tm_call_kinds *call_kinds,
                                  tm_calls *out, tm_error *err) {
    const tm_call_class operators = {TM_CALL_IN(TM_CAT_CPU_OP), is_operator, call_kinds};
    return tm_calls_find(timeline, operators, out, err);
}

static bool is_place(void *context, const tm_timeline *timeline, uint32_t row) {
    return timeline->category[row] == TM_CAT_USER_ANNOTATION
               ? !tm_timeline_is_step(timeline, row)
               : tm_call_kinds_own(context, timeline->name[row]);
}

tm_status tm_calls_find_places(const tm_timeline *timeline, struct tm_call_kinds *call_kinds,
                               tm_calls *out, tm_error *err) {
    const tm_call_class places = {TM_CALL_IN(TM_CAT_USER_ANNOTATION) | TM_CALL_IN(TM_CAT_PYTHON),
                                  is_place, call_kinds};
    return tm_calls_find(timeline, places, out, err);
}

static bool is_annotation(void *context, const tm_timeline *timeline, uint32_t row) {
    tm_call_kind kind = tm_call_kinds_of(context, timeline, row);
    return kind != TM_CALL_KIND_STEP &&
           (timeline->category[row] != TM_CAT_CPU_OP || tm_call_kind_is_scope(kind));
}

tm_status tm_calls_find_annotations(const tm_timeline *timeline, struct tm_call_kinds *call_kinds,
                                    tm_calls *out, tm_error *err) {
    const tm_call_class annotations = {TM_CALL_IN(TM_CAT_USER_ANNOTATION) |
                                           TM_CALL_IN(TM_CAT_CPU_OP) | TM_CALL_IN(TM_CAT_LIBRARY),
                                       is_annotation, call_kinds};
    return tm_calls_find(timeline, annotations, out, err);
}
