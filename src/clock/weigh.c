/* Iteratively reweighted least squares over events, each with its own unknown common end. */
#include "clock/work.h"

enum {
    HUBER_ITERATIONS = 3, /* convex, from anywhere; then Tukey, which forgets wrong matches */
    LEARNING_ITERATIONS = 8,
    MAX_ITERATIONS = 25,
    FEW_RESIDUALS = 8
};

#define SETTLED_NS 10.0      /* at the middle and at the reach */
#define LEAST_NOISE_NS 300.0 /* nothing in these traces is steadier */
#define USUAL_NOISE_NS 10e3  /* where too few ends tell */
#define MAD_TO_SIGMA 1.4826  /* of a normal distribution */
#define HUBER 1.0
#define TUKEY 4.685

static double noise_of(double median) {
    double noise = MAD_TO_SIGMA * median;
    return noise > LEAST_NOISE_NS ? noise : LEAST_NOISE_NS;
}

static void count_residuals(tm_work *work) {
    for (size_t k = 0; k < work->n_events; k++) {
        double middle = 0.0;
        size_t n = work->events[k].suspect ? 0 : tm_work_gather(work, work->events + k, &middle);
        bool skipped = n % 2 == 0;
        for (size_t i = 0; i < n && n > 1; i++) {
            const tm_anchor *anchor = work->anchors + i;
            double residual = fabs(tm_work_distance(work, anchor, middle, n));
            /* Of an odd number one is the middle itself, which says nothing. */
            if (residual == 0.0 && !skipped)
                skipped = true;
            else
                tm_spread_add(work->counts +
                                  (size_t)work->rows[anchor->row].noise_class * TM_SPREAD_BINS,
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

/* Learns the noise of each class from the residuals of the present fit. */
static tm_status learn_noise(tm_work *work, tm_error *err) {
    size_t n = (size_t)work->n_classes * TM_SPREAD_BINS;
    int64_t all[TM_SPREAD_BINS] = {0};
    memset(work->counts, 0, n * sizeof *work->counts);
    count_residuals(work);
    TM_TRY(tm_work_sum(work, work->counts, n, err));
    for (int32_t class = 0; class < work->n_classes; class ++) {
        const int64_t *counts = work->counts + (size_t) class * TM_SPREAD_BINS;
        bool enough = total_of(counts) >= FEW_RESIDUALS;
        work->noise[class] = enough ? noise_of(tm_spread_median(counts)) : 0.0;
        for (int i = 0; i < TM_SPREAD_BINS; i++)
            all[i] += counts[i];
    }
    bool enough = total_of(all) >= FEW_RESIDUALS;
    work->any_noise = enough ? noise_of(tm_spread_median(all)) : USUAL_NOISE_NS;
    return TM_OK;
}

/** Weight of an anchor [1/ns^2]: what 1/variance its noise gives, times what is left of it by Huber
 * (else by Tukey, if @p robust) at a distance [ns] from its event's middle. */
double tm_work_weight(const tm_work *work, const tm_anchor *anchor, double distance, bool robust) {
    double noise = tm_work_anchor_noise(work, anchor), far = fabs(distance) / noise, keep = 1.0;
    if (robust) {
        double within = 1.0 - far / TUKEY * (far / TUKEY);
        keep = within > 0.0 ? within * within : 0.0;
    } else if (far > HUBER) {
        keep = HUBER / far;
    }
    return keep * work->rows[anchor->row].root / (noise * noise);
}

/** The least noise of any class [ns]. */
double tm_work_least_noise(const tm_work *work) {
    double least = work->any_noise;
    for (int32_t class = 0; class < work->n_classes; class ++)
        if (work->noise[class] > 0.0)
            least = fmin(least, work->noise[class]);
    return least;
}

/** Scales for sums of weights and of weighted distances (see tm_exact_scale). A weight is at most
 * its root over noise^2; weight times distance from the event's mean at most 1.35 roots over noise
 * (the most that Tukey's function gives), and as much again for the mean's distance from the
 * median; x is at most 1. */
void tm_work_scales(const tm_work *work, double scales[2]) {
    double matrix = 0.0, right = 0.0;
    for (int32_t class = 0; class < work->n_classes; class ++) {
        double noise = tm_work_noise(work, (uint16_t) class), n = (double)work->n_of_class[class];
        matrix += n / (noise * noise);
        right += n / noise;
    }
    scales[0] = tm_exact_scale(matrix);
    scales[1] = tm_exact_scale(4.0 * right);
}

/* A drift that the data tell less well than it was known before stays 0. It is decided by what it
 * makes at the ends of the window against what the offset leaves open. */
static void hold_steady(tm_work *work) {
    for (int32_t h = 0; h < work->n_domains; h++) {
        const tm_clock_domain *domain = work->input->domains + h;
        double known = *tm_normal_at(&work->normal, 2 * (size_t)h, 2 * (size_t)h);
        double at_end = domain->drift_ppb * 1e-9 * (double)domain->length_ns / 2.0;
        work->steady[h] = !(known > 0.0 && at_end * sqrt(known) > 1.0);
        if (work->steady[h])
            work->rate[h] = 0.0;
    }
}

static void add_priors(tm_work *work) {
    for (int32_t h = 0; h < work->n_domains; h++) {
        size_t shift = 2 * (size_t)h, rate = shift + 1;
        double drift = work->input->domains[h].drift_ppb * 1e-9 * work->reach;
        double off = work->middle[h] - work->wall[h];
        /* Cauchy's weight: a wall clock that is wrong by seconds is wrong, and pulls no more. */
        double wall =
            isfinite(work->sigma[h]) ? 1.0 / (work->sigma[h] * work->sigma[h] + off * off) : 0.0;
        if (isfinite(wall)) {
            *tm_normal_at(&work->normal, shift, shift) += wall;
            work->normal.right[shift] -= wall * off;
        }
        /* The same for a clock that is not kept as steadily as its kind is. */
        if (!work->steady[h] && isfinite(drift)) {
            double gained = work->rate[h] * work->reach;
            double steady = 1.0 / (drift * drift + gained * gained);
            *tm_normal_at(&work->normal, rate, rate) += steady;
            work->normal.right[rate] -= steady * gained;
        }
    }
}

/* How much a domain's drift counts in the common drift of its component: as the prior has it. */
static double drift_share(const tm_work *work, int32_t h, double least) {
    return isfinite(least) ? least / work->input->domains[h].drift_ppb *
                                 (least / work->input->domains[h].drift_ppb)
                           : 1.0;
}

/* Events tell differences alone. That a component as a whole does not move is put in as if it were
 * known far better than any of its clocks: so it costs no accuracy and no uncertainty. A common
 * drift likewise, unless clocks whose drift is given stand in for it. */
static void add_gauge(tm_work *work) {
    const double firm = 1e4;
    for (int32_t root = 0; root < work->n_domains; root++) {
        double shift = 0.0, rate = 0.0, least = HUGE_VAL, n = 0.0;
        bool steady = false;
        for (int32_t h = root; h < work->n_domains && work->strong[root] == root; h++) {
            if (work->strong[h] != root)
                continue;
            double a = *tm_normal_at(&work->normal, 2 * (size_t)h, 2 * (size_t)h);
            double b = *tm_normal_at(&work->normal, 2 * (size_t)h + 1, 2 * (size_t)h + 1);
            double drift = work->input->domains[h].drift_ppb;
            shift = a > shift ? a : shift;
            rate = b > rate ? b : rate;
            least = drift < least ? drift : least;
            steady = steady || work->steady[h];
            n += 1.0;
        }
        for (int32_t g = root; g < work->n_domains && n > 1.0; g++) {
            for (int32_t h = root; h <= g; h++) {
                if (work->strong[g] != root || work->strong[h] != root)
                    continue;
                size_t r = 2 * (size_t)g, c = 2 * (size_t)h;
                *tm_normal_at(&work->normal, r, c) += firm * shift / n;
                if (!steady)
                    *tm_normal_at(&work->normal, r + 1, c + 1) +=
                        firm * rate / n * drift_share(work, g, least) * drift_share(work, h, least);
            }
        }
    }
}

static bool alone(const tm_work *work, int32_t domain) {
    for (int32_t h = 0; h < work->n_domains; h++)
        if (h != domain && work->strong[h] == work->strong[domain])
            return false;
    return true;
}

/**
 * Sums the normal equations of the present fit over all processes, adds what is known beforehand
 * and factorises them.
 * @param robust  Tukey's weights, and drifts stay as steady as they are; else Huber's
 */
tm_status tm_work_normal(tm_work *work, bool robust, tm_error *err) {
    double scales[2];
    tm_work_scales(work, scales);
    tm_normal_clear(&work->normal);
    for (size_t k = 0; k < work->n_events; k++) {
        double middle = 0.0;
        size_t n = work->events[k].suspect ? 0 : tm_work_gather(work, work->events + k, &middle);
        for (size_t i = 0; i < n && n > 1; i++) {
            tm_anchor *anchor = work->anchors + i;
            double distance = tm_work_distance(work, anchor, middle, n);
            anchor->weight = tm_work_weight(work, anchor, distance, robust);
        }
        if (n > 1)
            tm_normal_add(&work->normal, work->anchors, n, scales);
    }
    TM_TRY(tm_work_sum(work, work->normal.fixed, tm_normal_size(work->n_domains), err));
    tm_normal_expand(&work->normal, scales);
    if (!robust)
        hold_steady(work);
    add_priors(work);
    add_gauge(work);
    for (int32_t h = 0; h < work->n_domains; h++) {
        bool single = alone(work, h);
        if (single)
            tm_normal_pin(&work->normal, 2 * (size_t)h);
        if (single || work->steady[h])
            tm_normal_pin(&work->normal, 2 * (size_t)h + 1);
    }
    tm_normal_factor(&work->normal);
    return TM_OK;
}

/**
 * Improves the present fit until it settles.
 * @param n  iterations are added to it
 */
tm_status tm_work_iterate(tm_work *work, int32_t *n, tm_error *err) {
    double moved = HUGE_VAL;
    for (int i = 0; i < MAX_ITERATIONS && (i <= HUBER_ITERATIONS || moved > SETTLED_NS); i++) {
        /* Weights and noise that follow one another may circle for long. */
        if (i < LEARNING_ITERATIONS)
            TM_TRY(learn_noise(work, err));
        TM_TRY(tm_work_normal(work, i >= HUBER_ITERATIONS, err));
        tm_normal_solve(&work->normal);
        moved = 0.0;
        for (int32_t h = 0; h < work->n_domains; h++) {
            const double *change = work->normal.right + 2 * (size_t)h;
            work->middle[h] += change[0];
            work->rate[h] += change[1] / work->reach;
            double here = fabs(change[0]) + fabs(change[1]);
            moved = here > moved ? here : moved;
        }
        ++*n;
    }
    return learn_noise(work, err);
}
