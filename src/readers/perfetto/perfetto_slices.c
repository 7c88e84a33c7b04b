#include "perfetto_slices.h"

#include <stdlib.h>

#include "base/sorted.h"

/* Each track is sorted by time, and each end is paired with the last open start, as Perfetto does.
 * Events at the same time keep the order of the file, which shows whether a slice is empty, or ends
 * where another one starts. PyTorch does not write events in the order of time. It writes the
 * starts of many slices, and then their ends in the same order. Such a group is paired in this
 * order. The events of a group must have the same track and sequence, because other writers
 * alternate between threads. */

typedef struct sorted_edge {
    tm_pf_edge edge;
    size_t place; /* index in the file */
} sorted_edge;

/* Returns whether any event is earlier than the event before it. This cannot happen if events are
 * written while they happen. */
static bool goes_back(const sorted_edge *v, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (v[i].edge.time_ns < v[i - 1].edge.time_ns)
            return true;
    return false;
}

static size_t run_of(const sorted_edge *v, size_t n, bool begins) {
    size_t i = 0;
    while (i < n && (v[i].edge.begin != TM_PF_END) == begins)
        i++;
    return i;
}

static bool pair_up(const sorted_edge *v, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (v[i].edge.sequence != v->edge.sequence || v[n + i].edge.sequence != v->edge.sequence ||
            v[i].edge.time_ns > v[n + i].edge.time_ns)
            return false;
    return true;
}

typedef struct span {
    int64_t begin_ns, end_ns;
} span;

static int by_begin(const void *a, const void *b) {
    const span *x = a, *y = b;
    int order = tm_order_i64(x->begin_ns, y->begin_ns);
    return order ? order : tm_order_i64(y->end_ns, x->end_ns);
}

/* Counts the spans that cross an earlier span. Such a span starts within the earlier span and ends
 * after it. The spans are sorted by begin. Overwrites the spans. */
static size_t crossings(span *v, size_t n) {
    size_t open = 0, found = 0;
    for (size_t i = 0; i < n; i++) {
        const span at = v[i];
        bool crosses = false;
        for (; open > 0 && v[open - 1].end_ns < at.end_ns; open--)
            crosses = crosses || v[open - 1].end_ns > at.begin_ns;
        found += crosses;
        v[open++] = at;
    }
    return found;
}

/* Sets *out to whether a pairing of starts and ends is plausible: fewer than half of the slices may
 * cross an earlier slice. (The slices of a track are nested or disjoint, except for some kernels of
 * a stream.) Returns false if out of memory. */
static bool nest(const sorted_edge *v, size_t n, bool *out) {
    span *spans = malloc((n ? n : 1) * sizeof *spans);
    if (!spans)
        return false;
    for (size_t i = 0; i < n; i++)
        spans[i] = (span){v[i].edge.time_ns, v[n + i].edge.time_ns};
    qsort(spans, n, sizeof *spans, by_begin);
    *out = 2 * crossings(spans, n) < n;
    free(spans);
    return true;
}

/*
 * Pairs the events of groups on a track: the starts of some slices, followed by as many ends.
 * Removes these events from the list.
 * @param n  set to the number of events that are left
 */
static bool take_groups(sorted_edge *v, size_t *n, int64_t *durations) {
    size_t kept = 0;
    for (size_t at = 0; at < *n;) {
        size_t begins = run_of(v + at, *n - at, true);
        size_t ends = run_of(v + at + begins, *n - at - begins, false);
        const sorted_edge *run = v + at;
        bool group = begins == ends && goes_back(run, begins + ends) && pair_up(run, begins);
        if (group && !nest(run, begins, &group))
            return false;
        for (size_t i = 0; i < begins + ends; i++) {
            if (group && i < begins)
                durations[run[i].edge.begin] = run[begins + i].edge.time_ns - run[i].edge.time_ns;
            else if (!group)
                v[kept++] = run[i];
        }
        at += begins + ends;
    }
    *n = kept;
    return true;
}

TM_ORDER_BY(by_track, sorted_edge, edge.track, place);

TM_ORDER_BY(by_time, sorted_edge, edge.time_ns, place);

static bool pair_by_time(sorted_edge *v, size_t n, tm_vec *open, int64_t *durations) {
    open->n = 0;
    if (n > 1)
        qsort(v, n, sizeof *v, by_time);
    for (size_t i = 0; i < n; i++) {
        const tm_pf_edge *edge = &v[i].edge;
        if (edge->begin != TM_PF_END) {
            if (!tm_vec_append(open, edge, 1))
                return false;
        } else if (open->n > 0) {
            const tm_pf_edge *begin = (const tm_pf_edge *)open->data + --open->n;
            durations[begin->begin] = edge->time_ns - begin->time_ns;
        }
    }
    return true;
}

bool tm_pf_slices(const tm_pf_edge *edges, size_t n, tm_vec *durations) {
    sorted_edge *v = malloc((n ? n : 1) * sizeof *v);
    tm_vec open = TM_VEC(tm_pf_edge);
    bool ok = v != NULL;
    for (size_t i = 0; ok && i < n; i++)
        v[i] = (sorted_edge){edges[i], i};
    if (ok)
        qsort(v, n, sizeof *v, by_track);
    for (size_t at = 0, end = 0; ok && at < n; at = end) {
        while (end < n && v[end].edge.track == v[at].edge.track)
            end++;
        size_t left = end - at;
        ok = take_groups(v + at, &left, durations->data) &&
             pair_by_time(v + at, left, &open, durations->data);
    }
    tm_vec_free(&open);
    free(v);
    return ok;
}
