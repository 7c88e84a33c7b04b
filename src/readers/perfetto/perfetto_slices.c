#include "perfetto_slices.h"

#include <stdlib.h>

/*
 * A trace is sorted by time before its ends are given to its begins, on each track the last begin
 * first. Events of one time stay in the order of the file, which says whether one slice ends where
 * another begins, or an empty one lies there. PyTorch writes the begins of many slices and behind
 * them all their ends, in the same order: that order says which end is whose, where times leave it
 * open.
 */

/* Whether time goes back within the run: a writer that writes what happens never does. */
static bool goes_back(const tm_pf_edge *edges, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (edges[i].time_ns < edges[i - 1].time_ns)
            return true;
    return false;
}

static size_t run_of(const tm_pf_edge *edges, size_t n, bool begins) {
    size_t i = 0;
    while (i < n && (edges[i].begin != TM_PF_END) == begins)
        i++;
    return i;
}

static bool pair_up(const tm_pf_edge *edges, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (edges[i].track != edges[n + i].track || edges[i].time_ns > edges[n + i].time_ns)
            return false;
    return true;
}

/* Takes out what pairs up in the order of the file. Returns how many are left. */
static size_t take_groups(tm_pf_edge *edges, size_t n, int64_t *durations) {
    size_t kept = 0;
    for (size_t at = 0; at < n;) {
        size_t begins = run_of(edges + at, n - at, true);
        size_t ends = run_of(edges + at + begins, n - at - begins, false);
        const tm_pf_edge *run = edges + at;
        bool group = begins == ends && goes_back(run, begins + ends) && pair_up(run, begins);
        for (size_t i = 0; i < begins + ends; i++) {
            if (group && i < begins)
                durations[run[i].begin] = run[begins + i].time_ns - run[i].time_ns;
            else if (!group)
                edges[kept++] = run[i];
        }
        at += begins + ends;
    }
    return kept;
}

typedef struct sorted_edge {
    tm_pf_edge edge;
    size_t place; /* in the file */
} sorted_edge;

static int compare(const void *a, const void *b) {
    const sorted_edge *x = a, *y = b;
    if (x->edge.track != y->edge.track)
        return x->edge.track < y->edge.track ? -1 : 1;
    if (x->edge.time_ns != y->edge.time_ns)
        return x->edge.time_ns < y->edge.time_ns ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static bool pair_by_time(const tm_pf_edge *edges, size_t n, int64_t *durations) {
    sorted_edge *sorted = malloc((n ? n : 1) * sizeof *sorted);
    tm_vec open = TM_VEC(tm_pf_edge);
    bool ok = sorted != NULL;
    for (size_t i = 0; ok && i < n; i++)
        sorted[i] = (sorted_edge){edges[i], i};
    if (ok)
        qsort(sorted, n, sizeof *sorted, compare);
    for (size_t i = 0; ok && i < n; i++) {
        const tm_pf_edge *edge = &sorted[i].edge;
        if (i == 0 || edge->track != sorted[i - 1].edge.track)
            open.n = 0;
        if (edge->begin != TM_PF_END) {
            ok = tm_vec_append(&open, edge, 1) != NULL;
        } else if (open.n > 0) {
            const tm_pf_edge *begin = (const tm_pf_edge *)open.data + --open.n;
            durations[begin->begin] = edge->time_ns - begin->time_ns;
        }
    }
    tm_vec_free(&open);
    free(sorted);
    return ok;
}

bool tm_pf_slices(tm_pf_edge *edges, size_t n, tm_vec *durations) {
    size_t kept = take_groups(edges, n, durations->data);
    return pair_by_time(edges, kept, durations->data);
}
