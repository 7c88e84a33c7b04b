/* Detects clocks that were stepped during the recording. At the step, the distance of the domain's
 * ends from the other ends of their events jumps. */
#include "fit_state.h"

enum {
    STEP_EVENTS = 5, /* minimum number of events on each side of a step */
    /* Number of bins on each side from which the size of the step is measured. Over more bins,
     * drift would hide a part of the step. */
    STEP_BINS = 8
};
#define STEP_SIGMAS 5.0 /* minimum size of a step, in standard deviations of its estimate */
#define STEP_NOISES 2.0 /* minimum size of a step, as a multiple of the clock's uncertainty */
/* A distance of more than this many noises may be a wrong match, so it counts as exactly this
 * many. */
#define FAR_NOISES 60.0

/* The end of one domain relative to the ends of the other domains in its event. */
typedef struct sight {
    const tm_fit_row *row;
    double distance; /* distance from the middle of the event's ends, in units of noise */
    double far; /* distance [ns] from the other end; with three or more ends, from the middle of the
                   ends */
    double time; /* true time of the event, according to a clock that was not stepped */
} sight;

static double length_of(const tm_fit_state *state, const tm_anchor *anchor) {
    return (double)state->input->domains[anchor->domain].length_ns;
}

/* Returns the time of an event according to a clock that was not stepped. With three or more ends,
 * this is the middle, which one stepped clock does not affect. With two ends, either clock may have
 * been stepped. A step that is longer than the recording makes the window of its domain much
 * longer. So if one window is more than twice as long as the other, the domain with the shorter
 * window gives the time. */
static double time_of(const tm_fit_state *state, double middle, size_t n) {
    const tm_anchor *a = state->anchors, *b = a + 1;
    if (n == 2 && length_of(state, a) > 2.0 * length_of(state, b))
        return b->y;
    if (n == 2 && length_of(state, b) > 2.0 * length_of(state, a))
        return a->y;
    return middle;
}

static int32_t bin_of(const tm_fit_state *state, const sight *s) {
    const int32_t last = (int32_t)TM_FIT_BINS - 1;
    double first = state->first[s->row->domain], length = state->last[s->row->domain] - first;
    double part = length > 0.0 ? (s->time - first) / length : 0.0;
    int32_t bin = (int32_t)floor(fmin(fmax(part, 0.0), 1.0) * (double)TM_FIT_BINS);
    return bin < last ? bin : last;
}

/* Called for every anchor. Anchors of suspect events are included, because a stepped clock makes
 * half of its events suspect. In an event with two ends, either end may be wrong. So these events
 * are used only for domains that have few other events. The `parent` of such a domain is 0. */
typedef void anchor_visitor(tm_fit_state *state, const sight *s);

static void visit_anchors(tm_fit_state *state, anchor_visitor *visit) {
    for (size_t k = 0; k < state->n_events; k++) {
        double middle = 0.0;
        size_t n = tm_fit_gather(state, state->events + k, &middle);
        for (size_t i = 0; i < n && n > 1; i++) {
            const tm_anchor *anchor = state->anchors + i;
            double distance = tm_fit_distance(state, anchor, middle, n);
            /* With two ends, this is the distance of the ends from each other. */
            double far = (n == 2 ? 2.0 : 1.0) * (anchor->y - middle);
            const sight s = {state->rows + anchor->row,
                             distance / tm_fit_anchor_noise(state, anchor), far,
                             time_of(state, middle, n)};
            if (n > 2 || state->parent[anchor->domain] == 0)
                visit(state, &s);
        }
    }
}

static void add_to_range(tm_fit_state *state, const sight *s) {
    int64_t *range = state->counts + 2 * (size_t)s->row->domain, time = llrint(s->time);
    range[0] = -time > range[0] ? -time : range[0];
    range[1] = time > range[1] ? time : range[1];
}

/* Finds the range of time that the bins of each domain cover. */
static tm_status find_ranges(tm_fit_state *state, tm_error *err) {
    size_t n = (size_t)state->n_domains;
    for (size_t i = 0; i < 2 * n; i++)
        state->counts[i] = INT64_MIN / 2;
    visit_anchors(state, add_to_range);
    TM_TRY(tm_fit_max(state, state->counts, 2 * n, err));
    for (size_t h = 0; h < n; h++) {
        state->first[h] = -(double)state->counts[2 * h];
        state->last[h] = (double)state->counts[2 * h + 1];
    }
    return TM_OK;
}

/* Sets `parent` to 1 for domains with enough events of three or more ends, else to 0. */
static tm_status find_pairs(tm_fit_state *state, tm_error *err) {
    size_t n = (size_t)state->n_domains;
    memset(state->counts, 0, n * sizeof *state->counts);
    for (size_t k = 0; k < state->n_events; k++)
        for (size_t i = 0; i < state->events[k].n && state->events[k].n_anchors > 2; i++) {
            const tm_fit_row *row = state->rows + state->events[k].first + i;
            state->counts[row->domain] += (row->flags & TM_CLOCK_ANCHOR) != 0;
        }
    TM_TRY(tm_fit_sum(state, state->counts, n, err));
    for (size_t h = 0; h < n; h++)
        state->parent[h] = state->counts[h] >= (int64_t)2 * STEP_EVENTS;
    return TM_OK;
}

/* Distances [noises] are at most 60 and are stored as multiples of 2^-37. So a bin can add up 2^20
 * distances. */
#define BIN_SCALE 0x1p37

static void add_to_bin(tm_fit_state *state, const sight *s) {
    size_t cell = ((size_t)s->row->domain * TM_FIT_BINS + (size_t)bin_of(state, s)) * 2;
    state->counts[cell]++;
    state->counts[cell + 1] +=
        tm_exact_fixed(fmin(fmax(s->distance, -FAR_NOISES), FAR_NOISES), BIN_SCALE);
}

/* Fits a level, a slope and a jump before bin @p split to the means of the bins, by least squares.
 * Returns the size of the jump. Sets *variance to the variance of this size if every event has
 * variance 1. Sets *rest to chi square, the squared deviations from the fit. */
static double fit_jump(const int64_t *bins, size_t split, double *variance, double *rest) {
    double a[3][5] = {{0}}, yy = 0.0, explained = 0.0;
    for (size_t b = 0; b < TM_FIT_BINS; b++) {
        double n = (double)bins[2 * b];
        double y = n > 0.0 ? tm_exact_real(bins[2 * b + 1], BIN_SCALE) / n : 0.0;
        double x[3] = {1.0, ((double)b + 0.5) / (double)TM_FIT_BINS - 0.5, b >= split};
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++)
                a[i][j] += n * x[i] * x[j];
            a[i][3] += n * x[i] * y;
        }
        yy += n * y * y;
    }
    a[2][4] = 1.0;
    for (int i = 0; i < 3; i++) {
        if (!(a[i][i] > 1e-9)) {
            *variance = HUGE_VAL;
            *rest = yy;
            return 0.0;
        }
        explained += a[i][3] * a[i][3] / a[i][i];
        for (int k = i + 1; k < 3; k++) {
            double part = a[k][i] / a[i][i];
            for (int j = i; j < 5; j++)
                a[k][j] -= part * a[i][j];
        }
    }
    *variance = 1.0 / a[2][2];
    *rest = yy > explained ? yy - explained : 0.0;
    return a[2][3] / a[2][2];
}

/* Returns the bin before which the domain's clock was stepped; 0 if it was not. */
static int32_t find_step(const int64_t *bins) {
    int64_t all = 0, before = 0;
    int used = 0;
    int32_t found = 0;
    double surest = STEP_SIGMAS;
    for (size_t b = 0; b < TM_FIT_BINS; b++) {
        all += bins[2 * b];
        used += bins[2 * b] > 0;
    }
    for (size_t split = 1; split < TM_FIT_BINS; split++) {
        double variance, rest;
        before += bins[2 * (split - 1)];
        if (before < STEP_EVENTS || all - before < STEP_EVENTS || used < 5)
            continue;
        double jump = fit_jump(bins, split, &variance, &rest);
        double sure = fabs(jump) / sqrt(variance * fmax(1.0, rest / (used - 3)));
        if (fabs(jump) > STEP_NOISES && sure > surest) {
            surest = sure;
            found = (int32_t)split;
        }
    }
    return found;
}

static void select_side(tm_fit_state *state, const sight *s) {
    int32_t domain = s->row->domain;
    if (state->step_bin[domain] == 0)
        return;
    int32_t after = bin_of(state, s) - state->step_bin[domain];
    int side = after >= 0;
    if (after < -STEP_BINS || after >= STEP_BINS)
        return;
    tm_median_search_add(&state->select, 2 * (size_t)domain + (size_t)side, rint(s->far));
}

/**
 * Finds stepped clocks. One line cannot describe a clock both before and after a step. So the size
 * of the step is added to the uncertainty of a stepped clock.
 * @param models  for stepped clocks, step_ns and step_at_ns are set and the uncertainties are
 *                enlarged
 */
tm_status tm_fit_steps(tm_fit_state *state, tm_clock_model *models, tm_error *err) {
    size_t n = (size_t)state->n_domains * TM_FIT_BINS * 2;
    bool any = false;
    TM_TRY(find_pairs(state, err));
    TM_TRY(find_ranges(state, err));
    memset(state->counts, 0, n * sizeof *state->counts);
    visit_anchors(state, add_to_bin);
    TM_TRY(tm_fit_sum(state, state->counts, n, err));
    for (int32_t h = 0; h < state->n_domains; h++) {
        state->step_bin[h] = find_step(state->counts + (size_t)h * TM_FIT_BINS * 2);
        any = any || state->step_bin[h] > 0;
    }
    if (!any)
        return TM_OK;
    tm_median_search_begin(&state->select);
    for (int pass = 0; pass < TM_MEDIAN_SEARCH_PASSES; pass++) {
        visit_anchors(state, select_side);
        TM_TRY(tm_median_search_next(&state->select, state->reducer, err));
    }
    for (int32_t h = 0; h < state->n_domains; h++) {
        const tm_clock_domain *domain = state->input->domains + h;
        double early = tm_median_search_median(&state->select, 2 * (size_t)h);
        double step = tm_median_search_median(&state->select, 2 * (size_t)h + 1) - early;
        /* If the medians before and after agree, there is no step: late ends made the means
         * differ. */
        if (state->step_bin[h] == 0 || fabs(step) < STEP_NOISES * models[h].uncertainty_ns)
            continue;
        models[h].step_ns = (int64_t)step;
        double at = state->first[h] + (state->last[h] - state->first[h]) *
                                          (double)state->step_bin[h] / (double)TM_FIT_BINS;
        models[h].step_at_ns = domain->middle_ns + llrint(at - state->middle[h]);
        models[h].begin_uncertainty_ns = hypot(models[h].begin_uncertainty_ns, step);
        models[h].uncertainty_ns = hypot(models[h].uncertainty_ns, step);
        models[h].end_uncertainty_ns = hypot(models[h].end_uncertainty_ns, step);
    }
    return TM_OK;
}
