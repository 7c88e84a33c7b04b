/* Which domains collectives link, and where to begin: medians over the best-linked pairs. */
#include <stdlib.h>

#include "base/sorted.h"
#include "fit_state.h"

/* Calls for each pair of an event that is looked at: its first anchor with each other one. So every
 * link is kept, at a cost that grows with the anchors and not with their pairs. */
typedef void pair_visitor(tm_fit_state *state, const tm_fit_row *first, const tm_fit_row *other);

static void visit_pairs(tm_fit_state *state, pair_visitor *visit) {
    for (size_t k = 0; k < state->n_events; k++) {
        const tm_fit_event *event = state->events + k;
        const tm_fit_row *first = NULL;
        for (size_t i = 0; i < event->n && event->n_anchors > 1; i++) {
            const tm_fit_row *row = state->rows + event->first + i;
            if (!(row->flags & TM_CLOCK_ANCHOR))
                continue;
            if (first)
                visit(state, first, row);
            else
                first = row;
        }
    }
}

static int64_t *pairs_of(const tm_fit_state *state, int32_t g, int32_t h) {
    return state->normal.fixed +
           (g > h ? tm_normal_block((size_t)g, (size_t)h) : tm_normal_block((size_t)h, (size_t)g));
}

static void count_pair(tm_fit_state *state, const tm_fit_row *first, const tm_fit_row *other) {
    ++*pairs_of(state, first->domain, other->domain);
}

/* Prim's algorithm for the forest of most events; of equal ones the lowest domain. Sets `parent`
 * (itself for a root), `strong` and the order in which domains come, parents first.
 * Scratch: sorted holds each domain's best count, below 0 once it is in. */
static void grow_forest(tm_fit_state *state, int32_t *order) {
    int32_t n = state->n_domains;
    for (int32_t h = 0; h < n; h++) {
        state->parent[h] = h;
        state->sorted[h] = 0.0;
    }
    for (int32_t k = 0; k < n; k++) {
        int32_t next = -1;
        for (int32_t h = 0; h < n; h++)
            if (state->sorted[h] >= 0.0 && (next < 0 || state->sorted[h] > state->sorted[next]))
                next = h;
        order[k] = next;
        state->strong[next] =
            state->parent[next] == next ? next : state->strong[state->parent[next]];
        state->sorted[next] = -1.0;
        for (int32_t h = 0; h < n; h++) {
            double count = (double)*pairs_of(state, next, h);
            if (h != next && state->sorted[h] >= 0.0 && count > state->sorted[h]) {
                state->sorted[h] = count;
                state->parent[h] = next;
            }
        }
    }
}

/* How much later the child's window has its middle than the parent's, if both ended together. */
static void add_difference(tm_fit_state *state, const tm_fit_row *first, const tm_fit_row *other) {
    if (state->parent[other->domain] == first->domain)
        tm_median_search_add(&state->select, (size_t)other->domain, first->end - other->end);
    else if (state->parent[first->domain] == other->domain)
        tm_median_search_add(&state->select, (size_t)first->domain, other->end - first->end);
}

/**
 * Finds the components that anchors link, and begins with medians of end differences along their
 * spanning forests; drifts begin at 0.
 */
tm_status tm_fit_link(tm_fit_state *state, tm_error *err) {
    int32_t *order = state->component; /* not yet in use */
    tm_normal_clear(&state->normal);
    visit_pairs(state, count_pair);
    TM_TRY(
        tm_fit_sum(state, state->normal.fixed, tm_normal_block((size_t)state->n_domains, 0), err));
    grow_forest(state, order);
    tm_median_search_begin(&state->select);
    for (int pass = 0; pass < TM_MEDIAN_SEARCH_PASSES; pass++) {
        visit_pairs(state, add_difference);
        TM_TRY(tm_median_search_next(&state->select, state->reducer, err));
    }
    for (int32_t k = 0; k < state->n_domains; k++) {
        int32_t h = order[k], parent = state->parent[h];
        if (parent != h)
            state->middle[h] =
                state->middle[parent] + tm_median_search_median(&state->select, (size_t)h);
    }
    for (int32_t h = 0; h < state->n_domains; h++)
        state->component[h] = state->strong[h];
    return TM_OK;
}

static int by_value(const void *a, const void *b) {
    const tm_fit_vote *x = a, *y = b;
    return tm_order_real(x->value, y->value);
}

/* Of an even number of equal weights, the mean of the middle two. */
static double weighted_median(tm_fit_vote *votes, size_t n) {
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
void tm_fit_gauge(tm_fit_state *state, const int32_t *component) {
    for (int32_t root = 0; root < state->n_domains; root++) {
        size_t n = 0;
        double best = HUGE_VAL; /* smallest sigma, so that equal ones weigh exactly 1 */
        for (int32_t h = root; h < state->n_domains; h++)
            best = component[h] == root && state->sigma[h] < best ? state->sigma[h] : best;
        if (component[root] != root || !isfinite(best))
            continue;
        for (int32_t h = root; h < state->n_domains; h++) {
            if (component[h] != root || !isfinite(state->sigma[h]))
                continue;
            double share = state->sigma[h] > 0.0 ? best / state->sigma[h] : 1.0;
            state->votes[n++] = (tm_fit_vote){state->wall[h] - state->middle[h], share * share};
        }
        double shift = weighted_median(state->votes, n);
        for (int32_t h = root; h < state->n_domains; h++)
            if (component[h] == root)
                state->middle[h] += shift;
    }
}
