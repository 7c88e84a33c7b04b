/* Joins components that are linked only by messages in both directions. The messages of each
 * direction bound the clock difference on one side. The difference is set to the middle of this
 * interval, and its accuracy to half the width. */
#include <stdlib.h>

#include "fit_state.h"

/* Stands for "no bound" among the negated bounds. Bounds are negated because processes agree on the
 * tightest bound by a maximum (tm_fit_max). */
#define NO_BOUND INT64_MIN

/* The components to tie, ordered by their lowest domains. A list of tm_fit_list is a component to
 * tie if it shares an event with another list. */
typedef struct ties {
    /* [lists] index of the list among the components to tie; -1 if the list is not one of them */
    const int32_t *number;
    /* [n] List of each component to tie; the inverse of `number`. Owned, like the next three
     * members. */
    int32_t *list;
    int64_t *negated; /* [n * n] negated upper bounds of shift(g) - shift(h) */
    double *bounds;   /* [n * n] the upper bounds [ns] */
    bool *had;        /* [n] whether other components have been tied to this one */
    size_t n;
} ties;

static void bound_event(const tm_fit_state *state, const tm_fit_event *event, ties *t) {
    for (size_t i = 0; i < event->n; i++) {
        const tm_fit_row *give = state->rows + event->first + i;
        if (!(give->flags & TM_CLOCK_GIVES))
            continue;
        double begin = rint(tm_fit_true(state, give->domain, give->begin));
        for (size_t j = 0; j < event->n; j++) {
            const tm_fit_row *take = state->rows + event->first + j;
            int32_t g = t->number[state->list_of[give->domain]];
            int32_t h = t->number[state->list_of[take->domain]];
            if (g == h || !(take->flags & TM_CLOCK_TAKES))
                continue;
            double end = rint(tm_fit_true(state, take->domain, take->end_min));
            int64_t *bound = t->negated + (size_t)g * t->n + (size_t)h;
            *bound = (int64_t)(begin - end) > *bound ? (int64_t)(begin - end) : *bound;
        }
    }
}

/* Returns whether the event links domains of different components and is not suspect. */
static bool is_between(const tm_fit_state *state, const tm_fit_event *event) {
    const tm_fit_row *rows = state->rows + event->first;
    for (size_t i = 1; i < event->n; i++)
        if (state->list_of[rows[i].domain] != state->list_of[rows->domain])
            return !event->suspect;
    return false;
}

/* Finds the components to tie and allocates their bounds. Overwrites `parent`, which holds
 * t->number afterwards. */
static tm_status open_ties(tm_fit_state *state, int32_t n_lists, ties *t, tm_error *err) {
    size_t n = 0;
    memset(state->counts, 0, (size_t)n_lists * sizeof *state->counts);
    for (size_t k = 0; k < state->n_events; k++) {
        const tm_fit_event *event = state->events + k;
        bool between = is_between(state, event);
        for (size_t i = 0; i < event->n && between; i++)
            state->counts[state->list_of[state->rows[event->first + i].domain]] = 1;
    }
    TM_TRY(tm_fit_max(state, state->counts, (size_t)n_lists, err));
    for (int32_t k = 0; k < n_lists; k++)
        n += state->counts[k] > 0;
    *t = (ties){.number = state->parent,
                .list = malloc((n + 1) * sizeof *t->list),
                .negated = malloc((n * n + 1) * sizeof *t->negated),
                .bounds = malloc((n * n + 1) * sizeof *t->bounds),
                .had = calloc(n + 1, sizeof *t->had)};
    bool ok = t->list && t->negated && t->bounds && t->had;
    for (int32_t k = 0; k < n_lists && ok; k++) {
        state->parent[k] = state->counts[k] > 0 ? (int32_t)t->n : -1;
        if (state->counts[k] > 0)
            t->list[t->n++] = k;
    }
    return tm_fit_agree(state, ok, err);
}

static void close_ties(ties *t) {
    free(t->list);
    free(t->negated);
    free(t->bounds);
    free(t->had);
}

/* Tightens the bounds: a chain of bounds may be tighter than a direct bound. The tightest chains
 * are found as shortest paths, by the algorithm of Floyd and Warshall. */
static void close_bounds(double *bounds, size_t n) {
    for (size_t k = 0; k < n; k++)
        for (size_t g = 0; g < n; g++)
            for (size_t h = 0; h < n && isfinite(bounds[g * n + k]); h++)
                bounds[g * n + h] = fmin(bounds[g * n + h], bounds[g * n + k] + bounds[k * n + h]);
}

/* Returns how far [ns] a drift of the whole component may move the ends of its windows. Such a
 * drift is common to all clocks of the component, so events within the component cannot show it. */
static double drift_of(const tm_fit_state *state, int32_t list) {
    double known = 0.0, length = 0.0;
    for (size_t i = state->list_first[list]; i < state->list_first[list + 1]; i++) {
        const tm_clock_domain *domain = state->input->domains + state->listed[i];
        known += 1.0 / (domain->drift_ppb * domain->drift_ppb);
        length = fmax(length, (double)domain->length_ns);
    }
    return isfinite(known) ? 1e-9 / sqrt(known) * length / 2.0 : 0.0;
}

/* Widens each bound by the possible drift, because bounds are from different times. */
static void loosen_bounds(const tm_fit_state *state, ties *t) {
    for (size_t g = 0; g < t->n; g++) {
        double drift = drift_of(state, t->list[g]);
        for (size_t h = 0; h < t->n; h++) {
            t->bounds[g * t->n + h] += drift;
            t->bounds[h * t->n + g] += drift;
        }
    }
}

/* Returns the smallest standard deviation of a wall clock in a component. */
static double wall_of(const tm_fit_state *state, int32_t list) {
    double best = HUGE_VAL;
    for (size_t i = state->list_first[list]; i < state->list_first[list + 1]; i++)
        best = fmin(best, state->sigma[state->listed[i]]);
    return best;
}

static void move_component(tm_fit_state *state, int32_t list, int32_t to, double shift,
                           double half) {
    for (size_t i = state->list_first[list]; i < state->list_first[list + 1]; i++) {
        int32_t h = state->listed[i];
        state->middle[h] += shift;
        state->component[h] = to;
        state->tied[h] = half;
    }
}

static int32_t root_of(const tm_fit_state *state, const ties *t, size_t g) {
    return state->listed[state->list_first[t->list[g]]];
}

static bool is_free(const tm_fit_state *state, const ties *t, size_t g) {
    int32_t root = root_of(state, t, g);
    return state->component[root] == root;
}

/* Ties to component m all free components that have bounds on both sides. A component moves to the
 * middle of the interval between its bounds. The middles of all components together satisfy all
 * bounds. If the wall clocks of the component and of m are more accurate than its interval, the
 * component stays where the wall clocks put it. If this place is outside the interval, the
 * component moves to the nearest bound. */
static void tie_to(tm_fit_state *state, const ties *t, size_t m) {
    const double *bounds = t->bounds;
    size_t n = t->n;
    if (bounds[m * n + m] < 0.0) /* the bounds contradict each other */
        return;
    for (size_t g = 0; g < n; g++) {
        if (g == m || !is_free(state, t, g))
            continue;
        double high = bounds[g * n + m], low = -bounds[m * n + g], half = (high - low) / 2.0;
        double wall = hypot(wall_of(state, t->list[g]), wall_of(state, t->list[m]));
        if (!isfinite(half) || half < 0.0 || bounds[g * n + g] < 0.0)
            continue;
        double shift = half < wall ? (low + high) / 2.0 : fmin(fmax(0.0, low), high);
        move_component(state, t->list[g], root_of(state, t, m), shift, fmin(half, wall));
    }
}

/* Returns the largest component that is free: it has not been tied, and no other component has been
 * tied to it. Of several equally large components, returns the first. Returns n if there is
 * none. */
static size_t largest_free(const tm_fit_state *state, const ties *t) {
    size_t best = t->n, most = 0;
    for (size_t g = 0; g < t->n; g++) {
        size_t n = state->list_first[t->list[g] + 1] - state->list_first[t->list[g]];
        if (n <= most || t->had[g] || !is_free(state, t, g))
            continue;
        best = g;
        most = n;
    }
    return best;
}

/* Names each component after its lowest domain again: tying may have added lower domains. */
static void rename_components(tm_fit_state *state) {
    for (int32_t h = 0; h < state->n_domains; h++)
        state->parent[h] = -1;
    for (int32_t h = 0; h < state->n_domains; h++) {
        int32_t *lowest = &state->parent[state->component[h]];
        *lowest = *lowest < 0 ? h : *lowest;
    }
    for (int32_t h = 0; h < state->n_domains; h++)
        state->component[h] = state->parent[state->component[h]];
}

static tm_status tie_all(tm_fit_state *state, ties *t, tm_error *err) {
    size_t cells = t->n * t->n;
    for (size_t i = 0; i < cells; i++)
        t->negated[i] = NO_BOUND;
    for (size_t k = 0; k < state->n_events; k++)
        if (is_between(state, state->events + k))
            bound_event(state, state->events + k, t);
    TM_TRY(tm_fit_max(state, t->negated, cells, err));
    for (size_t i = 0; i < cells; i++)
        t->bounds[i] = t->negated[i] == NO_BOUND ? HUGE_VAL : -(double)t->negated[i];
    loosen_bounds(state, t);
    close_bounds(t->bounds, t->n);
    for (size_t main; (main = largest_free(state, t)) < t->n;) {
        t->had[main] = true;
        tie_to(state, t, main);
    }
    return TM_OK;
}

/** Ties components that are linked only by bounds. Differences within a component stay the same. */
tm_status tm_fit_tie(tm_fit_state *state, tm_error *err) {
    int32_t n_lists = tm_fit_list(state, state->strong);
    for (int32_t h = 0; h < state->n_domains; h++) {
        state->component[h] = state->strong[h];
        state->tied[h] = 0.0;
    }
    if (n_lists == 1)
        return TM_OK;
    ties t = {0};
    tm_status status = open_ties(state, n_lists, &t, err);
    if (status == TM_OK && t.n > 0) {
        status = tie_all(state, &t, err);
        rename_components(state);
    }
    close_ties(&t);
    return status;
}
