#include "pauses.h"

#include <stdlib.h>
#include <string.h>

#include "base/intervals.h"
#include "base/median.h"
#include "base/sorted.h"
#include "build_timeline.h"
#include "host_comm.h"

/* Returns whether steps are missing between a step and the previous one. */
static bool skips(const tm_step *step) {
    return step[-1].annotated && step->annotated && step->number > step[-1].number + 1;
}

/* Sets *out to the median duration of the marked steps. Returns false if out of memory. */
static bool usual_step(const tm_timeline *timeline, int64_t *out) {
    int64_t *lengths = malloc((timeline->n_steps + 1) * sizeof *lengths);
    size_t n = 0;
    for (size_t i = 0; i < timeline->n_steps && lengths; i++)
        if (timeline->steps[i].annotated)
            lengths[n++] = timeline->steps[i].end_ns - timeline->steps[i].begin_ns;
    *out = n > 0 && lengths ? tm_median_any(lengths, n) : 0;
    free(lengths);
    return lengths != NULL;
}

/* Lists the times between consecutive steps whose numbers are not consecutive. */
static bool find_skipped(const tm_timeline *timeline, tm_vec *out) {
    for (size_t i = 1; i < timeline->n_steps; i++) {
        const tm_step *step = &timeline->steps[i];
        const tm_interval between = {step[-1].end_ns, step->begin_ns};
        if (skips(step) && between.end_ns > between.begin_ns && !tm_vec_append(out, &between, 1))
            return false;
    }
    return true;
}

/* Collects the intervals within @p times in which something was recorded. */
static bool find_recorded(const tm_timeline *timeline, const tm_vec *times, tm_intervals *out) {
    const tm_interval *v = times->data;
    for (size_t t = 0; t < timeline->n_tracks; t++) {
        const tm_track *track = &timeline->tracks[t];
        /* `first` is the index of the first time in @p times that ends after the row's begin. It
         * only increases, because rows are sorted by begin. */
        size_t first = 0;
        for (size_t row = track->first; row < (size_t)track->first + track->count; row++) {
            int64_t begin = timeline->begin_ns[row], end = begin + timeline->duration_ns[row];
            while (first < times->n && v[first].end_ns <= begin)
                first++;
            if (!tm_span_counts(timeline->kind[row], timeline->category[row]))
                continue;
            for (size_t i = first; i < times->n && v[i].begin_ns < end; i++)
                if (!tm_intervals_add(out, begin > v[i].begin_ns ? begin : v[i].begin_ns,
                                      end < v[i].end_ns ? end : v[i].end_ns))
                    return false;
        }
    }
    tm_intervals_normalise(out);
    return true;
}

/* Appends the gaps of @p time in which nothing was recorded, if they are at least @p least_ns long.
 * Returns false if out of memory. */
static bool add_gaps(tm_interval time, const tm_intervals *recorded, int64_t least_ns,
                     tm_vec *out) {
    const tm_interval *v = recorded->data;
    for (size_t i = tm_intervals_first_after(recorded, time.begin_ns); true; i++) {
        bool last = i == recorded->n || v[i].begin_ns >= time.end_ns;
        const tm_interval gap = {time.begin_ns, last ? time.end_ns : v[i].begin_ns};
        if (gap.end_ns - gap.begin_ns >= least_ns && !tm_vec_append(out, &gap, 1))
            return false;
        if (last)
            return true;
        time.begin_ns = v[i].end_ns;
    }
}

/* Finds the pauses of the profiler within @p times. */
static bool find_pauses(const tm_timeline *timeline, const tm_vec *times, tm_vec *pauses) {
    tm_intervals recorded = TM_INTERVALS();
    int64_t step_ns = 0;
    bool ok = usual_step(timeline, &step_ns) && find_recorded(timeline, times, &recorded);
    int64_t least_ns = step_ns / 2 > 0 ? step_ns / 2 : 1;
    for (size_t i = 0; i < times->n && ok; i++)
        ok = add_gaps(((const tm_interval *)times->data)[i], &recorded, least_ns, pauses);
    tm_vec_free(&recorded);
    return ok;
}

/* Joins the parts of each span again. An earlier call, for other steps, may have split the
 * spans. */
static void join_parts(tm_timeline *timeline) {
    tm_span *v = timeline->spans;
    size_t n = 0;
    for (size_t i = 0; i < timeline->n_spans; i++) {
        if (n == 0 || v[n - 1].source != v[i].source) {
            v[n++] = v[i];
            continue;
        }
        v[n - 1].end_ns = v[i].end_ns;
        v[n - 1].truncated = v[i].truncated;
        for (int c = 0; c < TM_N_COUNTS; c++)
            v[n - 1].counts[c] += v[i].counts[c];
    }
    timeline->n_spans = n;
}

/* Appends the parts of a span. The ranges of the parts are set later. */
static bool split(const tm_span *span, const tm_vec *pauses, tm_vec *out) {
    const tm_interval *v = pauses->data;
    tm_span part = *span;
    for (size_t i = 0; i < pauses->n && span->n_durations > 0; i++) {
        if (v[i].begin_ns <= part.begin_ns || v[i].end_ns >= span->end_ns)
            continue;
        part.end_ns = v[i].begin_ns;
        part.truncated = false;
        if (!tm_vec_append(out, &part, 1))
            return false;
        part = (tm_span){.source = span->source,
                         .begin_ns = v[i].end_ns,
                         .end_ns = span->end_ns,
                         .open_ns = v[i].end_ns,
                         .n_durations = 1};
    }
    part.truncated = span->truncated;
    return tm_vec_append(out, &part, 1) != NULL;
}

static bool begins_by(const void *element, const void *key) {
    const tm_span *span = element;
    return span->n_durations > 0 && span->begin_ns <= *(const int64_t *)key;
}

/* Computes the ranges of the spans from the events that start in them. */
static bool set_ranges(tm_timeline *timeline) {
    tm_span *old = timeline->spans, *spans = calloc(timeline->n_spans + 1, sizeof *spans);
    for (size_t row = 0; row < timeline->n_events && spans; row++) {
        int64_t begin = timeline->begin_ns[row], end = begin + timeline->duration_ns[row];
        size_t i = tm_bisect(old, timeline->n_spans, sizeof *old, &begin, begins_by);
        if (i > 0 && tm_span_counts(timeline->kind[row], timeline->category[row]))
            tm_span_widen(&spans[i - 1], timeline->category[row], begin, end);
    }
    for (size_t i = 0; i < timeline->n_spans && spans; i++) {
        spans[i].source = old[i].source;
        spans[i].open_ns = old[i].open_ns;
        spans[i].truncated = old[i].truncated;
        memcpy(spans[i].counts, old[i].counts, sizeof spans[i].counts);
    }
    if (!spans)
        return false;
    free(old);
    timeline->spans = spans;
    return true;
}

static bool split_all(tm_timeline *timeline, const tm_vec *pauses) {
    tm_vec spans = TM_VEC(tm_span);
    bool ok = true;
    for (size_t i = 0; i < timeline->n_spans && ok; i++)
        ok = split(&timeline->spans[i], pauses, &spans);
    if (!ok) {
        tm_vec_free(&spans);
        return false;
    }
    free(timeline->spans);
    timeline->spans = spans.data;
    timeline->n_spans = spans.n;
    return true;
}

tm_status tm_timeline_find_pauses(tm_timeline *timeline, tm_error *err) {
    const size_t before = timeline->n_spans;
    tm_vec times = TM_VEC(tm_interval), pauses = TM_VEC(tm_interval);
    join_parts(timeline);
    bool ok =
        find_skipped(timeline, &times) && (times.n == 0 || find_pauses(timeline, &times, &pauses));
    bool changes = timeline->n_spans < before || pauses.n > 0;
    if (ok && pauses.n > 0)
        ok = split_all(timeline, &pauses);
    ok = ok && (!changes || set_ranges(timeline));
    if (tm_timeline_is_of_cpu(timeline))
        tm_timeline_set_cpu_spans(timeline);
    tm_vec_free(&times);
    tm_vec_free(&pauses);
    return ok ? TM_OK : tm_fail_memory(err);
}
