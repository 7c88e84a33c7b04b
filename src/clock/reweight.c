/* Fits the clocks by iteratively reweighted least squares. Each event has an unknown end that all
 * of its anchors have in common. */
#include "fit_state.h"

enum {
    /* The first iterations use Huber's weights, with which the fit converges from any start. Later
     * iterations use Tukey's weights, which ignore wrong matches. */
    HUBER_ITERATIONS = 3,
    LEARNING_ITERATIONS = 8,
    MAX_ITERATIONS = 25,
    FEW_RESIDUALS = 8
};

/* The fit has converged when |change of offset| + |change of drift| x tm_fit_state.reach is at most
 * this [ns] for every domain. */
#define SETTLED_NS 10.0
#define LEAST_NOISE_NS 300.0 /* lower limit of noise: no profiler has less */
#define USUAL_NOISE_NS 10e3  /* noise of a class with too few ends for an estimate */
/* standard deviation of a normal distribution divided by its median absolute deviation */
#define MAD_TO_SIGMA 1.4826
#define HUBER 1.0
#define TUKEY 4.685

static double noise_of(double median) {
    double noise = MAD_TO_SIGMA * median;
    return noise > LEAST_NOISE_NS ? noise : LEAST_NOISE_NS;
}

static void count_residuals(tm_fit_state *state) {
    for (size_t k = 0; k < state->n_events; k++) {
        double middle = 0.0;
        size_t n = state->events[k].suspect ? 0 : tm_fit_gather(state, state->events + k, &middle);
        bool skipped = n % 2 == 0;
        for (size_t i = 0; i < n && n > 1; i++) {
            const tm_anchor *anchor = state->anchors + i;
            double residual = fabs(tm_fit_distance(state, anchor, middle, n));
            /* If the number of anchors is odd, one of them is the median itself. Its distance of 0
             * says nothing about noise. */
            if (residual == 0.0 && !skipped)
                skipped = true;
            else
                tm_spread_add(state->counts +
                                  (size_t)state->rows[anchor->row].noise_class * TM_SPREAD_BINS,
                              residual);
        }
    }
}

static int64_t total_of(const int64_t counts[TM_SPREAD_BINS]) {
    int64_t total = 0;
    for (int i = 0; i < TM_SPREAD_BINS; i++)
        total += counts[i];
    return total;
}

/* Estimates the noise of each class from the residuals of the current fit. */
static tm_status learn_noise(tm_fit_state *state, tm_error *err) {
    size_t n = (size_t)state->n_classes * TM_SPREAD_BINS;
    int64_t all[TM_SPREAD_BINS] = {0};
    memset(state->counts, 0, n * sizeof *state->counts);
    count_residuals(state);
    TM_TRY(tm_fit_sum(state, state->counts, n, err));
    for (int32_t class = 0; class < state->n_classes; class ++) {
        const int64_t *counts = state->counts + (size_t) class * TM_SPREAD_BINS;
        bool enough = total_of(counts) >= FEW_RESIDUALS;
        state->noise[class] = enough ? noise_of(tm_spread_median(counts)) : 0.0;
        for (int i = 0; i < TM_SPREAD_BINS; i++)
            all[i] += counts[i];
    }
    bool enough = total_of(all) >= FEW_RESIDUALS;
    state->any_noise = enough ? noise_of(tm_spread_median(all)) : USUAL_NOISE_NS;
    return TM_OK;
}

/** Returns the weight [1/ns^2] of an anchor whose end is @p distance [ns] from the middle of its
 * event. The weight is `root` divided by the variance of the noise of the anchor's class. Huber's
 * function or, if @p robust is set, Tukey's function then reduces the weight. */
double tm_fit_weight(const tm_fit_state *state, const tm_anchor *anchor, double distance,
                     bool robust) {
    double noise = tm_fit_anchor_noise(state, anchor), far = fabs(distance) / noise, keep = 1.0;
    if (robust) {
        double within = 1.0 - far / TUKEY * (far / TUKEY);
        keep = within > 0.0 ? within * within : 0.0;
    } else if (far > HUBER) {
        keep = HUBER / far;
    }
    return keep * state->rows[anchor->row].root / (noise * noise);
}

/** Returns the lowest noise of any class [ns]. */
double tm_fit_least_noise(const tm_fit_state *state) {
    double least = state->any_noise;
    for (int32_t class = 0; class < state->n_classes; class ++)
        if (state->noise[class] > 0.0)
            least = fmin(least, state->noise[class]);
    return least;
}

/** Computes the scales (see tm_exact_scale) for two sums: the sum of weights, and the sum of
 * weighted distances. A weight is at most root / noise^2. A weight times a distance from the median
 * is at most 1.35 root / noise, the maximum of Tukey's function. The distance of the mean from the
 * median can add as much again. x is at most 1. */
void tm_fit_scales(const tm_fit_state *state, double scales[2]) {
    double matrix = 0.0, right = 0.0;
    for (int32_t class = 0; class < state->n_classes; class ++) {
        double noise = tm_fit_noise(state, (uint16_t) class), n = (double)state->n_of_class[class];
        matrix += n / (noise * noise);
        right += n / noise;
    }
    scales[0] = tm_exact_scale(matrix);
    scales[1] = tm_exact_scale(4.0 * right);
}

/* Largest plausible drift of a clock while the operating system adjusts it (NTP), and largest
 * plausible lateness of an end. If a deviation exceeds FASTEST x window + LATEST_NS, the clock was
 * stepped, or the end belongs to another event. */
#define FASTEST 0.002
#define LATEST_NS 1e6

static double shortest_window(const tm_fit_state *state, size_t n) {
    double shortest = HUGE_VAL;
    for (size_t i = 0; i < n; i++)
        shortest =
            fmin(shortest, (double)state->input->domains[state->anchors[i].domain].length_ns);
    return shortest;
}

/**
 * Leaves out the ends that no plausible clock near the current fit explains. They do not count as
 * anchors until tm_fit_take_back is called. Otherwise, such ends far from the middle of the window
 * would pull the drift towards themselves until they seem to fit.
 * @param n  set to the number of ends left out, over all processes
 */
tm_status tm_fit_compress(tm_fit_state *state, int64_t *n, tm_error *err) {
    *n = 0;
    for (size_t k = 0; k < state->n_events; k++) {
        double middle = 0.0;
        size_t m = tm_fit_gather(state, state->events + k, &middle);
        double most = m > 1 ? FASTEST * shortest_window(state, m) + LATEST_NS : 0.0;
        for (size_t i = 0; i < m && m > 1; i++) {
            const tm_anchor *anchor = state->anchors + i;
            if (fabs(anchor->y - middle) > most) {
                state->rows[anchor->row].compressed = true;
                ++*n;
            }
        }
    }
    return tm_fit_sum(state, n, 1, err);
}

/** Undoes tm_fit_compress. */
void tm_fit_take_back(tm_fit_state *state) {
    for (size_t i = 0; i < state->n_rows; i++)
        state->rows[i].compressed = false;
}

/**
 * Iterates the fit until it converges.
 * @param n  incremented by the number of iterations
 */
tm_status tm_fit_iterate(tm_fit_state *state, int32_t *n, tm_error *err) {
    double moved = HUGE_VAL;
    for (int i = 0; i < MAX_ITERATIONS && (i <= HUBER_ITERATIONS || moved > SETTLED_NS); i++) {
        /* The noise depends on the weights, and the weights depend on the noise. This could
         * oscillate, so the noise is no longer updated after some iterations. */
        if (i < LEARNING_ITERATIONS)
            TM_TRY(learn_noise(state, err));
        TM_TRY(tm_fit_normal(state, i >= HUBER_ITERATIONS, err));
        const double *solution = tm_fit_solve(state);
        moved = 0.0;
        for (int32_t h = 0; h < state->n_domains; h++) {
            const double *change = solution + 2 * (size_t)h;
            state->middle[h] += change[0];
            state->rate[h] += change[1] / state->reach;
            double here = fabs(change[0]) + fabs(change[1]);
            moved = here > moved ? here : moved;
        }
        ++*n;
    }
    return learn_noise(state, err);
}
