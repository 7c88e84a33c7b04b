#include "build_timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "pauses.h"
#include "restarts.h"

/* An annotation on the CPU that may be a step. */
typedef struct annotation {
    int64_t number, begin_ns, end_ns;
    int64_t restarts; /* number of restarts of the job before the annotation */
    int64_t reach_ns; /* latest end of this annotation and of all annotations before it */
    uint64_t stem;    /* `stem`, `trust` and `counted` are as in tm_step_name */
    tm_step_trust trust;
    bool counted;
    uint32_t row, name;
} annotation;

/* Annotations that may be steps, and the profiler's own steps, which are marked in any case. */
typedef struct candidates {
    tm_vec found;    /* vector of annotation */
    tm_vec profiler; /* vector of uint32_t: rows of the profiler's own steps */
} candidates;

static int by_begin(const void *a, const void *b) {
    const annotation *x = a, *y = b;
    if (x->begin_ns != y->begin_ns)
        return tm_order_i64(x->begin_ns, y->begin_ns);
    if (x->number != y->number)
        return tm_order_i64(x->number, y->number);
    return tm_order_i64(y->end_ns, x->end_ns); /* the outer annotation first */
}

/* Finds the annotations that may be steps. Sets no_step of each name id that is certainly not the
 * name of a step, so that further events with this name are skipped. */
static tm_status find_annotations(const tm_timeline *timeline, const tm_names *names,
                                  const tm_step_names *steps, bool *no_step, candidates *out,
                                  tm_error *err) {
    for (size_t t = 0; t < timeline->n_tracks; t++) {
        const tm_track *track = &timeline->tracks[t];
        if (track->kind != TM_TRACK_CPU)
            continue;
        for (uint32_t row = track->first; row < track->first + track->count; row++) {
            if (timeline->kind[row] != TM_DURATION || no_step[timeline->name[row]])
                continue;
            tm_step_name name = tm_step_name_of(steps, tm_names_text(names, timeline->name[row]));
            no_step[timeline->name[row]] = name.trust == TM_STEP_NOT;
            if (name.trust == TM_STEP_NOT)
                continue;
            if ((name.trust == TM_STEP_ALIKE || name.trust == TM_STEP_ENGINE) &&
                timeline->category[row] != TM_CAT_USER_ANNOTATION)
                continue;
            int64_t begin = timeline->begin_ns[row], end = begin + timeline->duration_ns[row];
            annotation found = {.number = name.number,
                                .begin_ns = begin,
                                .end_ns = end,
                                .stem = name.stem,
                                .trust = name.trust,
                                .counted = name.counted,
                                .row = row,
                                .name = timeline->name[row]};
            bool profiler = name.trust == TM_STEP_PROFILER;
            if (!tm_vec_append(profiler ? &out->profiler : &out->found,
                               profiler ? (void *)&row : &found, 1))
                return tm_fail_memory(err);
        }
    }
    return TM_OK;
}

static int by_loop(const void *a, const void *b) {
    const annotation *x = a, *y = b;
    if (x->trust != y->trust) /* the most certain annotations first */
        return x->trust > y->trust ? -1 : 1;
    return tm_order_u64(x->stem, y->stem);
}

/* Decides whether the steps are the marks of an inference engine. A step of the profiler may
 * contain one pass of the engine, many passes, or passes and training. If the marks take most of
 * the time of the profiler's steps, the marks are the steps. Otherwise the profiler's steps are the
 * steps, and the marks are ignored. */
static bool choose_engine(candidates *c) {
    annotation *v = c->found.data;
    double engine_ns = 0.0, sure_ns = 0.0;
    for (size_t i = 0; i < c->found.n; i++) {
        double ns = (double)(v[i].end_ns - v[i].begin_ns);
        engine_ns += v[i].trust == TM_STEP_ENGINE ? ns : 0.0;
        sure_ns += v[i].trust == TM_STEP_SURE ? ns : 0.0;
    }
    const bool engine = engine_ns > 0.0 && engine_ns > 0.5 * sure_ns;
    size_t n = 0;
    for (size_t i = 0; i < c->found.n; i++) {
        if (engine && v[i].trust == TM_STEP_SURE && !tm_vec_append(&c->profiler, &v[i].row, 1))
            return false;
        if (engine == (v[i].trust == TM_STEP_ENGINE))
            v[n++] = v[i];
    }
    c->found.n = n;
    return true;
}

/* Keeps the annotations that are certainly steps. If there are none, keeps the annotations of one
 * loop: the loop that takes most time. Other loops run inside the steps of this loop, so their
 * iterations are not steps of the job. */
static void choose_annotations(tm_vec *found) {
    annotation *v = found->data;
    size_t best = 0, n_best = 0;
    double most = -1;
    tm_vec_sort(found, by_loop);
    for (size_t first = 0, i = 0; i < found->n && v[first].trust == v[0].trust; first = i) {
        double sum = 0;
        while (i < found->n && v[i].trust == v[0].trust &&
               (v[i].trust >= TM_STEP_SURE || v[i].stem == v[first].stem)) {
            sum += (double)(v[i].end_ns - v[i].begin_ns);
            i++;
        }
        if (sum > most) {
            most = sum;
            best = first;
            n_best = i - first;
        }
    }
    if (n_best > 0)
        memmove(v, v + best, n_best * sizeof *v);
    found->n = n_best;
}

static void mark(tm_timeline *timeline, uint32_t row) {
    timeline->step_marks[row / 8] |= (uint8_t)(1u << row % 8);
}

/* Marks the rows that are steps: the chosen annotations, and always the profiler's own steps. */
static tm_status mark_rows(tm_timeline *timeline, const candidates *c, tm_error *err) {
    const annotation *found = c->found.data;
    const uint32_t *profiler = c->profiler.data;
    if (c->found.n + c->profiler.n == 0)
        return TM_OK;
    timeline->step_marks = calloc(timeline->n_events / 8 + 1, 1);
    if (!timeline->step_marks)
        return tm_fail_memory(err);
    for (size_t i = 0; i < c->found.n; i++)
        mark(timeline, found[i].row);
    for (size_t i = 0; i < c->profiler.n; i++)
        mark(timeline, profiler[i]);
    return TM_OK;
}

/* Returns whether the numbers in names are step numbers: the profiler counted them, or they
 * increase in each run of the job. (Batch sizes do not increase, and numbers of batches start again
 * in each epoch.) */
static bool numbers_count(const annotation *v, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const bool follows = i > 0 && v[i].restarts == v[i - 1].restarts;
        if (!v[i].counted && (v[i].number < 0 || (follows && v[i].number <= v[i - 1].number)))
            return false;
        if (v[i].restarts > 0 && v[i].number >= TM_RUN_STEPS_MAX)
            return false;
    }
    return true;
}

/* Records a restart of the job where the profiler's own numbers start again. Sets the annotations'
 * restarts. */
static void find_restarts(tm_timeline *timeline, annotation *v, size_t n) {
    for (size_t i = 1; i < n && timeline->n_spans > 1; i++) {
        const tm_span *span = tm_timeline_span(timeline, v[i].begin_ns);
        if (v[i].counted && v[i].number <= v[i - 1].number &&
            span != tm_timeline_span(timeline, v[i - 1].begin_ns))
            tm_timeline_restart_at(timeline, span);
    }
    for (size_t i = 0; i < n; i++)
        v[i].restarts = tm_timeline_restarts(timeline, v[i].begin_ns);
}

/* Returns whether an annotation that starts later belongs to the same step. Marks of an engine have
 * no numbers: a later mark belongs to the step only if it lies within the step. */
static bool is_same_step(const annotation *first, const annotation *later) {
    return first->number == later->number && later->begin_ns < first->end_ns &&
           (first->trust != TM_STEP_ENGINE || later->end_ns <= first->end_ns);
}

/* Sorts annotations by begin, and numbers them. Overlapping annotations of two threads with the
 * same number become one step. */
static void order_annotations(tm_timeline *timeline, tm_vec *found) {
    annotation *v = found->data;
    size_t n = 0;
    tm_vec_sort(found, by_begin);
    for (size_t i = 0; i < found->n; i++) {
        if (n > 0 && is_same_step(&v[n - 1], &v[i])) {
            if (v[i].end_ns > v[n - 1].end_ns)
                v[n - 1].end_ns = v[i].end_ns;
        } else {
            v[n++] = v[i];
        }
    }
    found->n = n;
    find_restarts(timeline, v, n);
    bool numbered = numbers_count(v, n);
    int64_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = v[i].number > most ? v[i].number : most;
    for (size_t i = 0; i < n; i++)
        v[i].number = numbered ? v[i].number + v[i].restarts * tm_run_steps(most) : (int64_t)i;
    for (size_t i = 0; i < n; i++)
        v[i].reach_ns = i > 0 && v[i - 1].reach_ns > v[i].end_ns ? v[i - 1].reach_ns : v[i].end_ns;
}

/* Returns the index of the annotation that contains a time; TM_NO_STEP if there is none. If several
 * annotations contain it, returns the one that started last. */
static int32_t step_at(const annotation *v, size_t n, int64_t time_ns) {
    size_t i = TM_FIRST_AFTER(annotation, begin_ns, v, n, time_ns);
    while (i-- > 0 && time_ns < v[i].reach_ns)
        if (time_ns < v[i].end_ns)
            return (int32_t)i;
    return TM_NO_STEP;
}

/* Returns whether annotation i contains a time, and the next annotation starts after this time. */
static bool holds(const annotation *v, size_t n, int32_t i, int64_t time_ns) {
    return i != TM_NO_STEP && v[i].begin_ns <= time_ns && time_ns < v[i].end_ns &&
           ((size_t)i + 1 == n || time_ns < v[i + 1].begin_ns);
}

/* Gives each GPU event the step that launched it, and each other event the step that contains its
 * start. */
static void assign_events(tm_timeline *timeline, const annotation *v, size_t n) {
    for (size_t t = 0; t < timeline->n_tracks; t++) {
        const tm_track *track = &timeline->tracks[t];
        /* step of the previous event, which is usually the step of this event, too */
        int32_t step = TM_NO_STEP;
        for (size_t row = track->first; row < (size_t)track->first + track->count; row++) {
            bool cpu = track->kind == TM_TRACK_CPU;
            size_t at = cpu ? row : tm_timeline_asked(timeline, (uint32_t)row);
            if (at == TM_NO_EVENT)
                continue;
            int64_t time_ns = timeline->begin_ns[at];
            if (!holds(v, n, step, time_ns))
                step = step_at(v, n, time_ns);
            timeline->step[row] = step;
        }
    }
}

/* Sets the windows. A step starts at the end of the previous step at the earliest, and ends with
 * its last GPU event at the earliest. */
static void set_windows(tm_timeline *timeline, const annotation *v) {
    tm_step *steps = timeline->steps;
    for (size_t i = 0; i < timeline->n_steps; i++)
        steps[i] = (tm_step){v[i].number, v[i].begin_ns, v[i].end_ns, true, v[i].name};
    for (size_t row = 0; row < timeline->n_events; row++) {
        if (timeline->role[row] == TM_ROLE_NONE || timeline->step[row] == TM_NO_STEP)
            continue;
        int64_t end = timeline->begin_ns[row] + timeline->duration_ns[row];
        tm_step *step = &steps[timeline->step[row]];
        step->end_ns = end > step->end_ns ? end : step->end_ns;
    }
    for (size_t i = 0; i < timeline->n_steps; i++) {
        if (i > 0 && steps[i - 1].end_ns > steps[i].begin_ns)
            steps[i].begin_ns = steps[i - 1].end_ns;
        if (steps[i].end_ns < steps[i].begin_ns)
            steps[i].end_ns = steps[i].begin_ns;
    }
}

/* Returns whether the annotations only mark where steps begin, as records of a push do: they hold
 * under 1 % of the time from the first to the last, and no device work that the trace has. */
static bool are_marks(const tm_timeline *timeline, const annotation *v, size_t n) {
    double held_ns = 0.0;
    size_t n_work = 0, n_held = 0;
    for (size_t i = 0; i < n; i++)
        held_ns += (double)(v[i].end_ns - v[i].begin_ns);
    for (size_t row = 0; row < timeline->n_events; row++) {
        n_work += timeline->role[row] != TM_ROLE_NONE;
        n_held += timeline->role[row] != TM_ROLE_NONE && timeline->step[row] != TM_NO_STEP;
    }
    return n > 1 && n_work > 0 && n_held == 0 &&
           held_ns < 0.01 * (double)(v[n - 1].end_ns - v[0].begin_ns);
}

/* Returns when a stream finished the work that was queued before a recording started; INT64_MIN if
 * there was no such work. The launches of this work are not recorded. A stream runs in order, so
 * the work is all events before the first event with a recorded launch.
 *
 * Launches of other events may be missing, too, for example those of graphs. So the result is
 * INT64_MIN if no event has a launch, or if at least as many events without a launch come after the
 * first launched event as before it.
 *
 * *row is the recording's first event. It is moved to the first event of the next recording. */
static int64_t queued_before(const tm_timeline *timeline, uint32_t *row, uint32_t after,
                             int64_t until_ns) {
    int64_t end_ns = INT64_MIN;
    size_t n_queued = 0, n_launched = 0, n_lost = 0;
    for (; *row < after && timeline->begin_ns[*row] < until_ns; ++*row) {
        const int64_t end = timeline->begin_ns[*row] + timeline->duration_ns[*row];
        if (timeline->role[*row] == TM_ROLE_NONE)
            continue;
        if (timeline->launch[*row] != TM_NO_EVENT) {
            n_launched++;
        } else if (n_launched > 0) {
            n_lost++;
        } else {
            n_queued++;
            end_ns = end > end_ns ? end : end_ns;
        }
    }
    return n_launched > 0 && n_lost < n_queued ? end_ns : INT64_MIN;
}

/* Makes the first step of each recording start after the work that was queued before it. */
static void cut_first_steps(tm_timeline *timeline, const tm_track *track) {
    const tm_span *spans = timeline->spans;
    uint32_t row = track->first;
    size_t i = 0;
    for (size_t s = 0; s < timeline->n_spans && spans[s].n_durations > 0; s++) {
        const bool last = s + 1 == timeline->n_spans || spans[s + 1].n_durations == 0;
        const int64_t end_ns = queued_before(timeline, &row, track->first + track->count,
                                             last ? INT64_MAX : spans[s + 1].begin_ns);
        tm_step *steps = timeline->steps;
        while (i < timeline->n_steps && steps[i].begin_ns < spans[s].begin_ns)
            i++;
        if (i < timeline->n_steps && steps[i].begin_ns < end_ns && end_ns < steps[i].end_ns)
            steps[i].begin_ns = end_ns;
    }
}

/* Makes the whole trace step 0, because no steps are marked. If the trace has no duration events,
 * there are no steps. */
static void one_step(tm_timeline *timeline) {
    tm_step *step = &timeline->steps[0];
    *step = (tm_step){.number = 0, .annotated = false};
    timeline->n_steps = tm_timeline_range(timeline, &step->begin_ns, &step->end_ns);
    if (timeline->n_steps == 0)
        return;
    for (size_t row = 0; row < timeline->n_events; row++)
        timeline->step[row] = 0;
}

tm_status tm_timeline_find_steps(tm_timeline *timeline, const tm_names *names,
                                 const tm_step_names *step_names, tm_error *err) {
    candidates c = {TM_VEC(annotation), TM_VEC(uint32_t)};
    const tm_vec *found = &c.found;
    bool *no_step = calloc(tm_timeline_n_names(timeline), sizeof *no_step);
    tm_status status = no_step ? find_annotations(timeline, names, step_names, no_step, &c, err)
                               : tm_fail_memory(err);
    free(no_step);
    if (status == TM_OK && !choose_engine(&c))
        status = tm_fail_memory(err);
    choose_annotations(&c.found);
    free(timeline->steps);
    free(timeline->step_marks);
    timeline->step_marks = NULL;
    timeline->n_steps = 0;
    if (status == TM_OK)
        status = mark_rows(timeline, &c, err);
    order_annotations(timeline, &c.found);
    for (size_t row = 0; row < timeline->n_events; row++)
        timeline->step[row] = TM_NO_STEP;
    timeline->steps = status == TM_OK ? calloc(found->n + 1, sizeof *timeline->steps) : NULL;
    if (status == TM_OK && !timeline->steps)
        status = tm_fail_memory(err);
    if (timeline->steps && found->n > 0) {
        timeline->n_steps = found->n;
        assign_events(timeline, found->data, found->n);
        set_windows(timeline, found->data);
    }
    if (timeline->steps && (found->n == 0 || are_marks(timeline, found->data, found->n)))
        one_step(timeline);
    tm_vec_free(&c.found);
    tm_vec_free(&c.profiler);
    if (status == TM_OK)
        status = tm_timeline_find_pauses(timeline, err);
    if (status == TM_OK && timeline->n_steps > 0 && timeline->steps[0].annotated)
        for (size_t t = 0; t < timeline->n_tracks && timeline->tracks[t].kind == TM_TRACK_GPU; t++)
            cut_first_steps(timeline, &timeline->tracks[t]);
    return status;
}
