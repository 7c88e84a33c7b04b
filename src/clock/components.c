/* Which domains collectives link, and where to begin: medians over the best-linked pairs. */
#include <stdlib.h>

#include "clock/work.h"

/* Calls for each pair of an event that is looked at: its first anchor with each other one. So every
 * link is kept, at a cost that grows with the anchors and not with their pairs. */
typedef void pair_visitor(tm_work *work, const tm_work_row *first, const tm_work_row *other);

static void visit_pairs(tm_work *work, pair_visitor *visit) {
    for (size_t k = 0; k < work->n_events; k++) {
        const tm_work_event *event = work->events + k;
        const tm_work_row *first = NULL;
        for (size_t i = 0; i < event->n && event->n_anchors > 1; i++) {
            const tm_work_row *row = work->rows + event->first + i;
            if (!(row->flags & TM_CLOCK_ANCHOR))
                continue;
            if (first)
                visit(work, first, row);
            else
                first = row;
        }
    }
}

static int64_t *pairs_of(const tm_work *work, int32_t g, int32_t h) {
    return work->normal.fixed +
           (g > h ? tm_normal_block((size_t)g, (size_t)h) : tm_normal_block((size_t)h, (size_t)g));
}

static void count_pair(tm_work *work, const tm_work_row *first, const tm_work_row *other) {
    ++*pairs_of(work, first->domain, other->domain);
}

/* Prim's algorithm for the forest of most events; of equal ones the lowest domain. Sets `parent`
 * (itself for a root), `strong` and the order in which domains come, parents first.
 * Scratch: sorted holds each domain's best count, below 0 once it is in. */
static void grow_forest(tm_work *work, int32_t *order) {
    int32_t n = work->n_domains;
    for (int32_t h = 0; h < n; h++) {
        work->parent[h] = h;
        work->sorted[h] = 0.0;
    }
    for (int32_t k = 0; k < n; k++) {
        int32_t next = -1;
        for (int32_t h = 0; h < n; h++)
            if (work->sorted[h] >= 0.0 && (next < 0 || work->sorted[h] > work->sorted[next]))
                next = h;
        order[k] = next;
        work->strong[next] = work->parent[next] == next ? next : work->strong[work->parent[next]];
        work->sorted[next] = -1.0;
        for (int32_t h = 0; h < n; h++) {
            double count = (double)*pairs_of(work, next, h);
            if (h != next && work->sorted[h] >= 0.0 && count > work->sorted[h]) {
                work->sorted[h] = count;
                work->parent[h] = next;
            }
        }
    }
}

/* How much later the child's window has its middle than the parent's, if both ended together. */
static void add_difference(tm_work *work, const tm_work_row *first, const tm_work_row *other) {
    if (work->parent[other->domain] == first->domain)
        tm_select_add(&work->select, (size_t)other->domain, first->end - other->end);
    else if (work->parent[first->domain] == other->domain)
        tm_select_add(&work->select, (size_t)first->domain, other->end - first->end);
}

/**
 * Finds the components that anchors link, and begins with medians of end differences along their
 * spanning forests; drifts begin at 0.
 */
tm_status tm_work_link(tm_work *work, tm_error *err) {
    int32_t *order = work->component; /* not yet in use */
    tm_normal_clear(&work->normal);
    visit_pairs(work, count_pair);
    TM_TRY(tm_work_sum(work, work->normal.fixed, tm_normal_block((size_t)work->n_domains, 0), err));
    grow_forest(work, order);
    tm_select_begin(&work->select);
    for (int pass = 0; pass < TM_SELECT_PASSES; pass++) {
        visit_pairs(work, add_difference);
        TM_TRY(tm_select_next(&work->select, work->reducer, err));
    }
    for (int32_t k = 0; k < work->n_domains; k++) {
        int32_t h = order[k], parent = work->parent[h];
        if (parent != h)
            work->middle[h] = work->middle[parent] + tm_select_median(&work->select, (size_t)h);
    }
    for (int32_t h = 0; h < work->n_domains; h++)
        work->component[h] = work->strong[h];
    return TM_OK;
}

static int by_value(const void *a, const void *b) {
    const tm_work_vote *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* Of an even number of equal weights, the mean of the middle two. */
static double weighted_median(tm_work_vote *votes, size_t n) {
    double half = 0.0, sum = 0.0;
    qsort(votes, n, sizeof *votes, by_value);
    for (size_t i = 0; i < n; i++)
        half += votes[i].weight / 2.0;
    size_t i = 0;
    while (i + 1 < n && sum + votes[i].weight < half)
        sum += votes[i++].weight;
    bool even = i + 1 < n && sum + votes[i].weight == half;
    return even ? (votes[i].value + votes[i + 1].value) / 2.0 : votes[i].value;
}

/**
 * Moves each component as a whole to where it is nearest to its wall clocks: by the median of what
 * they say, weighted by their variances, which one clock that is years off does not change.
 */
void tm_work_gauge(tm_work *work, const int32_t *component) {
    for (int32_t root = 0; root < work->n_domains; root++) {
        size_t n = 0;
        double best = HUGE_VAL; /* smallest sigma, so that equal ones weigh exactly 1 */
        for (int32_t h = root; h < work->n_domains; h++)
            best = component[h] == root && work->sigma[h] < best ? work->sigma[h] : best;
        if (component[root] != root || !isfinite(best))
            continue;
        for (int32_t h = root; h < work->n_domains; h++) {
            if (component[h] != root || !isfinite(work->sigma[h]))
                continue;
            double share = work->sigma[h] > 0.0 ? best / work->sigma[h] : 1.0;
            work->votes[n++] = (tm_work_vote){work->wall[h] - work->middle[h], share * share};
        }
        double shift = weighted_median(work->votes, n);
        for (int32_t h = root; h < work->n_domains; h++)
            if (component[h] == root)
                work->middle[h] += shift;
    }
}
