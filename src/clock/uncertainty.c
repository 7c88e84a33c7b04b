/* Computes the uncertainty of each clock. One part of it is due to noise. The other part is due to
 * bias, which averaging does not reduce. */
#include "fit_state.h"

/* Distances of ends from the middles of their events, summed by domain and stratum. A stratum holds
 * the operations of one group and kind. Within a stratum, the ends of a domain always have the same
 * bias, for example because of the rank's place in the ring, a slow rail, or the GPU's own clock.
 * Strata have different biases, so the differences between strata show how large the bias is. The
 * bias is not divided by the number of strata, because a bias that all strata have in common cannot
 * be seen. */
typedef struct strata {
    int64_t *pull;    /* [n_domains * TM_CLOCK_STRATA] sums of weight times distance */
    int64_t *weight;  /* [n_domains * TM_CLOCK_STRATA] sums of weights */
    int64_t *anchors; /* [n_domains] number of events in which the domain's end has weight */
    double scales[2]; /* the scale of `weight` and the scale of `pull`, see tm_exact_scale */
} strata;

static strata find_strata(tm_fit_state *state) {
    size_t cells = (size_t)state->n_domains * TM_CLOCK_STRATA;
    strata out = {.pull = state->counts,
                  .weight = state->counts + cells,
                  .anchors = state->counts + 2 * cells};
    tm_fit_scales(state, out.scales);
    return out;
}

static tm_status sum_strata(tm_fit_state *state, const strata *sums, tm_error *err) {
    size_t n = (size_t)state->n_domains * (2 * TM_CLOCK_STRATA + 1);
    memset(state->counts, 0, n * sizeof *state->counts);
    for (size_t k = 0; k < state->n_events; k++) {
        double middle = 0.0;
        size_t m = state->events[k].suspect ? 0 : tm_fit_gather(state, state->events + k, &middle);
        for (size_t i = 0; i < m && m > 1; i++) {
            const tm_anchor *anchor = state->anchors + i;
            const tm_fit_row *row = state->rows + anchor->row;
            double distance = tm_fit_distance(state, anchor, middle, m);
            double weight = tm_fit_weight(state, anchor, distance, true);
            size_t cell = (size_t)row->domain * TM_CLOCK_STRATA + row->stratum;
            if (weight == 0.0)
                continue;
            sums->pull[cell] += tm_exact_fixed(weight * (anchor->y - middle), sums->scales[1]);
            sums->weight[cell] += tm_exact_fixed(weight, sums->scales[0]);
            sums->anchors[row->domain]++;
        }
    }
    return tm_fit_sum(state, state->counts, n, err);
}

/* Returns the sum of squares [ns^2] of a domain's strata around their mean, without the part due to
 * noise. Sets *n_free to the degrees of freedom. */
static double spread_of(const strata *sums, int32_t domain, double *n_free) {
    size_t cell = (size_t)domain * TM_CLOCK_STRATA;
    double means[TM_CLOCK_STRATA], mean = 0.0, squares = 0.0, noise = 0.0, n = 0.0;
    for (size_t s = 0; s < TM_CLOCK_STRATA; s++) {
        double weight = tm_exact_real(sums->weight[cell + s], sums->scales[0]);
        if (!(weight > 0.0))
            continue;
        means[(size_t)n] = tm_exact_real(sums->pull[cell + s], sums->scales[1]) / weight;
        mean += means[(size_t)n];
        noise += 1.0 / weight;
        n += 1.0;
    }
    *n_free = n > 1.0 ? n - 1.0 : 0.0;
    for (size_t s = 0; s < (size_t)n; s++)
        squares += (means[s] - mean / n) * (means[s] - mean / n);
    squares -= n > 0.0 ? noise * (n - 1.0) / n : 0.0;
    return n > 1.0 && squares > 0.0 ? squares : 0.0;
}

/* Returns the variance due to bias [ns^2] for a domain with a single stratum: the mean of the other
 * domains, or the square of the lowest noise. */
static double common_bias(const tm_fit_state *state, const strata *sums) {
    double squares = 0.0, n_free = 0.0, n;
    for (int32_t h = 0; h < state->n_domains; h++) {
        squares += spread_of(sums, h, &n);
        n_free += n;
    }
    double least = tm_fit_least_noise(state);
    return n_free > 0.0 ? squares / n_free : least * least;
}

/* Returns the uncertainty [ns] at time @p x, which is given as a multiple of the reach. If the
 * drift is not estimated, the caller must put the prior variance of the drift into @p covariance.
 * @p floor [ns^2] is added to the variance. */
static double at_time(const double covariance[3], double x, double floor) {
    double variance = covariance[0] + 2.0 * x * covariance[1] + x * x * covariance[2];
    return sqrt((variance > 0.0 ? variance : 0.0) + floor);
}

/**
 * Sets method, anchors and uncertainties of the models.
 * @param models  [n_domains]
 */
tm_status tm_fit_uncertain(tm_fit_state *state, tm_clock_model *models, tm_error *err) {
    TM_TRY(tm_fit_lay_out(state, TM_NETWORK_BOUND, err));
    TM_TRY(tm_fit_normal(state, true, err));
    if (!state->dense)
        tm_network_invert(&state->network);
    strata sums = find_strata(state);
    TM_TRY(sum_strata(state, &sums, err));
    double common = common_bias(state, &sums);
    for (int32_t h = 0; h < state->n_domains; h++)
        /* also sets the method of the lowest domain of a component with several domains */
        if (state->component[h] != h)
            models[state->component[h]].method = models[h].method = TM_CLOCK_FIT;
    for (int32_t h = 0; h < state->n_domains; h++) {
        const tm_clock_domain *domain = state->input->domains + h;
        tm_clock_model *model = models + h;
        double drift = domain->drift_ppb * 1e-9 * state->reach, n_free, covariance[3];
        double x = (double)domain->length_ns / 2.0 / state->reach;
        double own = spread_of(&sums, h, &n_free);
        double bias = n_free > 0.0 ? fmax(own / n_free, common) : common;
        double floor = bias + domain->gpu_ns * domain->gpu_ns + state->tied[h] * state->tied[h];
        tm_fit_covariance(state, h, covariance);
        if (state->strong[h] == h && sums.anchors[h] == 0)
            /* In a component of one domain, `tied` already contains this uncertainty. */
            covariance[0] = 0.0;
        if (state->steady[h] || sums.anchors[h] == 0) {
            covariance[1] = 0.0;
            covariance[2] = isfinite(drift) ? drift * drift : 0.0;
        }
        model->anchors = sums.anchors[h];
        if (model->method != TM_CLOCK_FIT) {
            model->method = isfinite(state->sigma[h]) ? TM_CLOCK_WALL : TM_CLOCK_NONE;
            covariance[0] = 0.0;
            floor = state->sigma[h] * state->sigma[h];
        }
        model->begin_uncertainty_ns = at_time(covariance, -x, floor);
        model->uncertainty_ns = at_time(covariance, 0.0, floor);
        model->end_uncertainty_ns = at_time(covariance, x, floor);
    }
    return TM_OK;
}
