/* Components that no anchor links, but messages in both directions do: each bounds one side of
 * their difference, and the middle of what is left is as good a tie as half its width. */
#include "fit_state.h"

/* Upper bounds of differences: bounds[g * n + h] of shift(g) - shift(h), where g and h are numbers
 * of components in the order of their lowest domains. Kept negated while maxima are reduced. */
#define NO_BOUND INT64_MIN

static void bound_event(const tm_fit_state *state, const tm_fit_event *event, const int32_t *number,
                        int32_t n, int64_t *bounds) {
    for (size_t i = 0; i < event->n; i++) {
        const tm_fit_row *give = state->rows + event->first + i;
        if (!(give->flags & TM_CLOCK_GIVES))
            continue;
        double begin = rint(tm_fit_true(state, give->domain, give->begin));
        for (size_t j = 0; j < event->n; j++) {
            const tm_fit_row *take = state->rows + event->first + j;
            int32_t g = number[give->domain], h = number[take->domain];
            if (g == h || !(take->flags & TM_CLOCK_TAKES))
                continue;
            double end = rint(tm_fit_true(state, take->domain, take->end_min));
            int64_t *bound = bounds + (size_t)g * (size_t)n + (size_t)h;
            *bound = (int64_t)(begin - end) > *bound ? (int64_t)(begin - end) : *bound;
        }
    }
}

/* Numbers the components; returns how many there are. */
static int32_t number_components(const tm_fit_state *state, int32_t *number) {
    int32_t n = 0;
    for (int32_t h = 0; h < state->n_domains; h++)
        number[h] = state->strong[h] == h ? n++ : number[state->strong[h]];
    return n;
}

/* Floyd and Warshall's shortest paths, over components with any bound. */
static void close_bounds(double *bounds, size_t n) {
    for (size_t k = 0; k < n; k++)
        for (size_t g = 0; g < n; g++)
            for (size_t h = 0; h < n && isfinite(bounds[g * n + k]); h++)
                bounds[g * n + h] = fmin(bounds[g * n + h], bounds[g * n + k] + bounds[k * n + h]);
}

/* How far the common drift of a component, which no event of it shows, may have brought its clocks
 * at the ends of their windows [ns]. */
static double drift_of(const tm_fit_state *state, int32_t root) {
    double known = 0.0, length = 0.0;
    for (int32_t h = root; h < state->n_domains; h++) {
        const tm_clock_domain *domain = state->input->domains + h;
        if (state->strong[h] != root)
            continue;
        known += 1.0 / (domain->drift_ppb * domain->drift_ppb);
        length = fmax(length, (double)domain->length_ns);
    }
    return isfinite(known) ? 1e-9 / sqrt(known) * length / 2.0 : 0.0;
}

/* Bounds of different times agree only as far as the drifts allow. */
static void loosen_bounds(const tm_fit_state *state, double *bounds, const int32_t *number,
                          size_t n) {
    for (int32_t root = 0; root < state->n_domains; root++) {
        if (state->strong[root] != root)
            continue;
        size_t g = (size_t)number[root];
        double drift = drift_of(state, root);
        for (size_t h = 0; h < n; h++) {
            bounds[g * n + h] += drift;
            bounds[h * n + g] += drift;
        }
    }
}

/* What the wall clocks of a component say of its common time, at best. */
static double wall_of(const tm_fit_state *state, int32_t root) {
    double best = HUGE_VAL;
    for (int32_t h = 0; h < state->n_domains; h++)
        best = state->strong[h] == root ? fmin(best, state->sigma[h]) : best;
    return best;
}

static void move_component(tm_fit_state *state, int32_t root, int32_t to, double shift,
                           double half) {
    for (int32_t h = 0; h < state->n_domains; h++) {
        if (state->strong[h] != root)
            continue;
        state->middle[h] += shift;
        state->component[h] = to;
        state->tied[h] = half;
    }
}

/* Ties to one component all that are bounded on both sides against it. The middles of the closed
 * bounds obey each of them together. Where the wall clocks are better than the bounds, theirs is
 * the position, within the bounds. */
static void tie_to(tm_fit_state *state, const double *bounds, const int32_t *number, size_t n,
                   int32_t main) {
    size_t m = (size_t)number[main];
    if (bounds[m * n + m] < 0.0) /* a circle of contradictions */
        return;
    for (int32_t root = 0; root < state->n_domains; root++) {
        size_t g = (size_t)number[root];
        if (state->strong[root] != root || root == main || state->component[root] != root)
            continue;
        double high = bounds[g * n + m], low = -bounds[m * n + g], half = (high - low) / 2.0;
        double wall = hypot(wall_of(state, root), wall_of(state, main));
        if (!isfinite(half) || half < 0.0 || bounds[g * n + g] < 0.0)
            continue;
        double shift = half < wall ? (low + high) / 2.0 : fmin(fmax(0.0, low), high);
        move_component(state, root, main, shift, fmin(half, wall));
    }
}

/* The component of most domains that is not tied to another nor had its turn; of equal ones the
 * lowest; -1 at the end. Scratch: sorted is 1 for those that had. */
static int32_t largest_free(const tm_fit_state *state) {
    int32_t best = -1, most = 0;
    for (int32_t root = 0; root < state->n_domains; root++) {
        int32_t n = 0;
        if (state->strong[root] != root || state->component[root] != root ||
            state->sorted[root] > 0.0)
            continue;
        for (int32_t h = root; h < state->n_domains; h++)
            n += state->strong[h] == root;
        best = n > most ? root : best;
        most = n > most ? n : most;
    }
    return best;
}

/* Names each component by its lowest domain, of which the main one need not be. */
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

/**
 * Ties components that only bounds link. Each keeps its inner differences.
 */
tm_status tm_fit_tie(tm_fit_state *state, tm_error *err) {
    int64_t *negated = state->normal.fixed; /* has room for n^2 */
    double *bounds = state->normal.lower;
    int32_t *number = state->parent;
    int32_t n = number_components(state, number);
    size_t cells = (size_t)n * (size_t)n;
    for (int32_t h = 0; h < state->n_domains; h++) {
        state->component[h] = state->strong[h];
        state->tied[h] = 0.0;
    }
    if (n == 1)
        return TM_OK;
    for (size_t i = 0; i < cells; i++)
        negated[i] = NO_BOUND;
    for (size_t k = 0; k < state->n_events; k++)
        if (!state->events[k].suspect)
            bound_event(state, state->events + k, number, n, negated);
    TM_TRY(tm_fit_max(state, negated, cells, err));
    for (size_t i = 0; i < cells; i++)
        bounds[i] = negated[i] == NO_BOUND ? HUGE_VAL : -(double)negated[i];
    loosen_bounds(state, bounds, number, (size_t)n);
    close_bounds(bounds, (size_t)n);
    for (int32_t h = 0; h < state->n_domains; h++)
        state->sorted[h] = 0.0;
    for (int32_t main; (main = largest_free(state)) >= 0;) {
        state->sorted[main] = 1.0;
        tie_to(state, bounds, number, (size_t)n, main);
    }
    rename_components(state);
    return TM_OK;
}
