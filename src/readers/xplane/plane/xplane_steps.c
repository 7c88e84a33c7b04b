#include "xplane_steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sorted.h"

/* The start of a flow, and the cause that contains it. */
typedef struct flow {
    int64_t type, id;
    uint32_t cause;
} flow;

enum { OF_STEP = -1 };
static const uint32_t no_cause = UINT32_MAX;

tm_xsteps tm_xsteps_make(void) {
    return (tm_xsteps){.steps = TM_VEC(tm_xstep),
                       .causes = TM_VEC(tm_xcause),
                       .flows = TM_VEC(flow),
                       .open = no_cause};
}

void tm_xsteps_free(tm_xsteps *s) {
    TM_VECS_FREE(&s->steps, &s->causes, &s->flows);
}

static tm_xstep make_step(const tm_raw_event *event) {
    return (tm_xstep){.begin_ns = event->begin_ns,
                      .end_ns = event->begin_ns + event->duration_ns,
                      .first_ns = INT64_MAX,
                      .last_ns = INT64_MIN};
}

bool tm_xsteps_mark(tm_xsteps *s, const tm_raw_event *event, tm_text name, const tm_xvalues *v) {
    tm_xstep step = make_step(event);
    step.group = tm_x_int(v, TM_X_GROUP, -1);
    step.number = name.size == 0 || name.size > 18 ? -1 : 0;
    for (size_t i = 0; i < name.size && step.number >= 0; i++)
        step.number = name.bytes[i] >= '0' && name.bytes[i] <= '9'
                          ? step.number * 10 + (name.bytes[i] - '0')
                          : -1;
    s->of_device = true;
    return tm_vec_append(&s->steps, &step, 1);
}

void tm_xsteps_thread(tm_xsteps *s) {
    s->open = no_cause;
}

static void close_causes(tm_xsteps *s, int64_t time_ns) {
    const tm_xcause *causes = s->causes.data;
    while (s->open != no_cause && causes[s->open].end_ns <= time_ns)
        s->open = causes[s->open].parent;
}

static bool open_cause(tm_xsteps *s, const tm_raw_event *event, int64_t type, int64_t id) {
    const tm_xcause cause = {.type = type,
                             .id = id,
                             .end_ns = event->begin_ns + event->duration_ns,
                             .first_ns = INT64_MAX,
                             .last_ns = INT64_MIN,
                             .parent = s->open};
    if (s->causes.n >= no_cause || !tm_vec_append(&s->causes, &cause, 1))
        return false;
    s->open = (uint32_t)(s->causes.n - 1);
    return true;
}

bool tm_xsteps_take(tm_xsteps *s, const tm_raw_event *event, const tm_xvalues *v) {
    close_causes(s, event->begin_ns);
    if (s->of_device)
        return true;
    if (tm_x_has(v, TM_X_PRODUCER) && s->open != no_cause) {
        const flow made = {tm_x_int(v, TM_X_PRODUCER_TYPE, 0), tm_x_int(v, TM_X_PRODUCER, 0),
                           s->open};
        if (!tm_vec_append(&s->flows, &made, 1))
            return false;
    }
    if (tm_x_has(v, TM_X_STEP)) {
        tm_xstep step = make_step(event);
        step.number = tm_x_int(v, TM_X_STEP, -1);
        step.name = event->name;
        return tm_vec_append(&s->steps, &step, 1) &&
               open_cause(s, event, OF_STEP, (int64_t)s->steps.n - 1);
    }
    if (tm_x_has(v, TM_X_CONSUMER) && event->duration_ns > 0)
        return open_cause(s, event, tm_x_int(v, TM_X_CONSUMER_TYPE, 0),
                          tm_x_int(v, TM_X_CONSUMER, 0));
    return true;
}

static void widen(int64_t *first_ns, int64_t *last_ns, int64_t begin_ns, int64_t end_ns) {
    *first_ns = begin_ns < *first_ns ? begin_ns : *first_ns;
    *last_ns = end_ns > *last_ns ? end_ns : *last_ns;
}

void tm_xsteps_call(tm_xsteps *s, const tm_raw_event *event, const tm_xvalues *v) {
    int64_t begin = event->begin_ns, end = begin + event->duration_ns;
    tm_xstep *steps = s->steps.data;
    int64_t group = tm_x_int(v, TM_X_GROUP, -1);
    for (size_t i = 0; s->of_device && i < s->steps.n && group >= 0; i++)
        if (steps[i].group == group)
            widen(&steps[i].first_ns, &steps[i].last_ns, begin, end);
    tm_xcause *causes = s->causes.data;
    close_causes(s, begin);
    if (s->open != no_cause)
        widen(&causes[s->open].first_ns, &causes[s->open].last_ns, begin, end);
}

TM_ORDER_BY(by_flow, flow, type, id);

/* Follows a cause back to its step: along flows from other threads, or to the cause that contains
 * it. Returns NULL if no step is found. */
static tm_xstep *step_of(const tm_xsteps *s, uint32_t at) {
    enum { HOPS_MAX = 64 }; /* limited, because the flows of a damaged file may form cycles */
    const tm_xcause *causes = s->causes.data;
    for (int hop = 0; hop < HOPS_MAX && at != no_cause; hop++) {
        if (causes[at].type == OF_STEP)
            return (tm_xstep *)s->steps.data + causes[at].id;
        const flow wanted = {causes[at].type, causes[at].id, 0};
        const flow *found =
            s->flows.n > 0 ? bsearch(&wanted, s->flows.data, s->flows.n, sizeof wanted, by_flow)
                           : NULL;
        at = found && found->cause != at ? found->cause : causes[at].parent;
    }
    return NULL;
}

static void join_calls(tm_xsteps *s) {
    const tm_xcause *causes = s->causes.data;
    tm_vec_sort(&s->flows, by_flow);
    for (size_t i = 0; i < s->causes.n; i++) {
        tm_xstep *step = causes[i].first_ns <= causes[i].last_ns ? step_of(s, (uint32_t)i) : NULL;
        if (step)
            widen(&step->first_ns, &step->last_ns, causes[i].first_ns, causes[i].last_ns);
    }
}

/* Adjusts the times of a step to its calls. A marker covers the device's work: the step gets the
 * times of the calls instead. An annotation may end before another thread makes the calls: the step
 * is extended to the last call. If all calls come after the annotation, the step starts with
 * them. */
static void move_to_calls(tm_xstep *step) {
    bool marker = step->name == TM_NO_NAME;
    if (step->first_ns > step->last_ns)
        return;
    if (marker || step->first_ns >= step->end_ns)
        step->begin_ns = step->first_ns;
    if (marker || step->last_ns > step->end_ns)
        step->end_ns = step->last_ns;
}

TM_ORDER_BY(by_begin, tm_xstep, begin_ns, end_ns, number);

/* Makes a name such as "train step 12", which is recognised as the name of a step. */
static uint32_t name_step(tm_xread *r, const tm_xstep *step, size_t place) {
    char text[160];
    int64_t number = step->number >= 0 ? step->number : (int64_t)place;
    tm_text name = tm_names_text(r->names, step->name);
    snprintf(text, sizeof text, "%.*s%sstep %" PRId64, (int)(name.size < 100 ? name.size : 0),
             name.bytes, name.size > 0 && name.size < 100 ? " " : "", number);
    return tm_xread_intern(r, (tm_text){text, strlen(text)});
}

static tm_status put_step(tm_xread *r, uint32_t track, const tm_xstep *step, size_t place,
                          tm_error *err) {
    const tm_raw_event event = {.begin_ns = step->begin_ns,
                                .duration_ns = step->end_ns - step->begin_ns,
                                .name = name_step(r, step, place),
                                .track = track,
                                .category = TM_CAT_USER_ANNOTATION,
                                .kind = TM_DURATION,
                                .launch = TM_NO_EVENT};
    return event.name != TM_NAME_FAILED && r->trace->events.n < TM_NO_EVENT - 1 &&
                   tm_vec_append(&r->trace->events, &event, 1)
               ? TM_OK
               : tm_fail_memory(err);
}

tm_status tm_xsteps_finish(tm_xsteps *s, tm_xread *r, tm_error *err) {
    tm_xstep *steps = s->steps.data;
    /* a track that belongs to no thread */
    const tm_xline line = {.id = INT64_MIN, .name = {"Steps", 5}};
    if (s->steps.n == 0)
        return TM_OK;
    join_calls(s);
    for (size_t i = 0; i < s->steps.n; i++)
        move_to_calls(&steps[i]);
    qsort(steps, s->steps.n, sizeof *steps, by_begin);
    uint32_t track = tm_xread_thread(r, &line);
    if (track == UINT32_MAX)
        return tm_fail_memory(err);
    for (size_t i = 0; i < s->steps.n; i++) {
        /* Steps of a loop overlap if the host makes calls for the next step before the last calls
         * of the current step. The device runs the steps one after another. */
        bool overlaps = i > 0 && steps[i - 1].name == steps[i].name &&
                        steps[i].begin_ns < steps[i - 1].end_ns &&
                        steps[i].end_ns > steps[i - 1].end_ns;
        if (overlaps)
            steps[i].begin_ns = steps[i - 1].end_ns;
        TM_TRY(put_step(r, track, &steps[i], i, err));
    }
    return TM_OK;
}
