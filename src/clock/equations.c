/* Normal equations of the current fit, from events and prior knowledge. */
#include "fit_state.h"

/* Handles an event. If @p meet is true, adds the event's anchors to the network. Otherwise sets the
 * event's position in the network. Returns false if out of memory. */
static bool visit_event(tm_fit_state *state, tm_fit_event *event, int32_t *domains, int64_t *ends,
                        bool meet) {
    size_t n = 0;
    for (size_t i = 0; i < event->n; i++) {
        const tm_fit_row *row = state->rows + event->first + i;
        if (!(row->flags & TM_CLOCK_ANCHOR))
            continue;
        domains[n] = row->domain;
        ends[n++] = state->input->ends[row->input].end_ns;
    }
    if (n > 1 && meet)
        return tm_network_meet(&state->network, domains, ends, n);
    if (n > 1)
        event->spot = tm_network_spot_of(&state->network, domains, ends, n);
    return true;
}

/* Calls visit_event for all events. `parent` and `counts` are scratch for the domains and ends of
 * an event. */
static bool visit_events(tm_fit_state *state, bool meet) {
    bool ok = true;
    for (size_t k = 0; k < state->n_events && ok; k++)
        ok = visit_event(state, state->events + k, state->parent, state->counts, meet);
    return ok;
}

static tm_status gather(tm_fit_state *state, tm_vec *own, tm_error *err) {
    tm_vec all = {.size = own->size};
    tm_status status = state->reducer->gather(state->reducer->context, own, &all, err);
    tm_vec_free(own);
    *own = all;
    return status;
}

/** Prepares tm_fit_normal. The components must be known. */
tm_status tm_fit_lay_out(tm_fit_state *state, tm_network_aim aim, tm_error *err) {
    tm_network *network = &state->network;
    if (state->dense)
        return TM_OK;
    if (network->n == 0) {
        TM_TRY(tm_fit_agree(state, visit_events(state, true), err));
        TM_TRY(gather(state, &network->keys, err));
        TM_TRY(gather(state, &network->members, err));
        TM_TRY(gather(state, &network->links, err));
        bool joined = tm_network_join(network, state->n_domains, state->strong);
        TM_TRY(tm_fit_agree(state, joined, err));
        (void)visit_events(state, false);
    }
    return tm_fit_agree(state, tm_network_plan(network, aim), err);
}

static double diagonal(tm_fit_state *state, size_t r) {
    return state->dense ? *tm_normal_at(&state->normal, r, r) : state->network.known[r];
}

static void add_prior(tm_fit_state *state, size_t r, double weight, double right) {
    if (!state->dense) {
        tm_network_prior(&state->network, r, weight, right);
        return;
    }
    *tm_normal_at(&state->normal, r, r) += weight;
    state->normal.right[r] += right;
}

static void pin(tm_fit_state *state, size_t r) {
    if (state->dense)
        tm_normal_pin(&state->normal, r);
    else
        tm_network_pin(&state->network, r);
}

/* Decides which drifts stay 0: those whose prior standard deviation moves the clock, at the ends of
 * the window, by less than the uncertainty of the offset. The data determine such a drift less
 * accurately than the prior does. */
static void hold_steady(tm_fit_state *state) {
    for (int32_t h = 0; h < state->n_domains; h++) {
        const tm_clock_domain *domain = state->input->domains + h;
        double known = diagonal(state, 2 * (size_t)h);
        double at_end = domain->drift_ppb * 1e-9 * (double)domain->length_ns / 2.0;
        state->steady[h] = !(known > 0.0 && at_end * sqrt(known) > 1.0);
        if (state->steady[h])
            state->rate[h] = 0.0;
    }
}

static void add_priors(tm_fit_state *state) {
    for (int32_t h = 0; h < state->n_domains; h++) {
        size_t shift = 2 * (size_t)h, rate = shift + 1;
        double drift = state->input->domains[h].drift_ppb * 1e-9 * state->reach;
        double off = state->middle[h] - state->wall[h];
        /* The weight falls with the distance (Cauchy), so that a wall clock that is wrong by
         * seconds has little influence. */
        double wall =
            isfinite(state->sigma[h]) ? 1.0 / (state->sigma[h] * state->sigma[h] + off * off) : 0.0;
        if (isfinite(wall))
            add_prior(state, shift, wall, -wall * off);
        /* The weight of a drift also falls with its size, because a clock may be less steady than
         * most of its kind. */
        if (!state->steady[h] && isfinite(drift)) {
            double gained = state->rate[h] * state->reach;
            double steady = 1.0 / (drift * drift + gained * gained);
            add_prior(state, rate, steady, -steady * gained);
        }
    }
}

/* Returns a domain's share in the common drift of its component: small if the domain's drift is
 * uncertain before the fit. */
static double drift_share(const tm_fit_state *state, int32_t h, double least) {
    return isfinite(least) ? least / state->input->domains[h].drift_ppb *
                                 (least / state->input->domains[h].drift_ppb)
                           : 1.0;
}

/* Adds to the minimised function: @p weight times the square of the sum of the domains' unknowns,
 * each times its share. */
static void add_square(tm_fit_state *state, const int32_t *domains, const double *shares, size_t n,
                       size_t which, double weight) {
    if (!state->dense) {
        tm_network_gauge(&state->network, domains, shares, n, which, weight);
        return;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k <= i; k++)
            *tm_normal_at(&state->normal, 2 * (size_t)domains[i] + which,
                          2 * (size_t)domains[k] + which) += weight * shares[i] * shares[k];
}

/* Fixes the common offset of a component, because events determine only differences between its
 * clocks. Also fixes the common drift, unless the clocks whose drift stays 0 already fix it. The
 * weight of these constraints is far above the weight of all data, so that no clock loses accuracy.
 * `sorted` is scratch. */
static void add_gauge(tm_fit_state *state, const int32_t *domains, size_t n) {
    const double firm = 1e4;
    double shift = 0.0, rate = 0.0, least = HUGE_VAL;
    bool steady = false;
    for (size_t i = 0; i < n; i++) {
        double a = diagonal(state, 2 * (size_t)domains[i]);
        double b = diagonal(state, 2 * (size_t)domains[i] + 1);
        double drift = state->input->domains[domains[i]].drift_ppb;
        shift = a > shift ? a : shift;
        rate = b > rate ? b : rate;
        least = drift < least ? drift : least;
        steady = steady || state->steady[domains[i]];
    }
    for (size_t i = 0; i < n; i++)
        state->sorted[i] = 1.0;
    add_square(state, domains, state->sorted, n, 0, firm * shift / (double)n);
    for (size_t i = 0; i < n; i++)
        state->sorted[i] = drift_share(state, domains[i], least);
    if (!steady)
        add_square(state, domains, state->sorted, n, 1, firm * rate / (double)n);
}

/* Fixes the components, and pins the unknowns that are not solved for: offset and drift of a domain
 * that is alone, and drifts that stay 0. */
static void close_components(tm_fit_state *state) {
    int32_t n_lists = tm_fit_list(state, state->strong);
    for (int32_t k = 0; k < n_lists; k++) {
        const int32_t *domains = state->listed + state->list_first[k];
        size_t n = state->list_first[k + 1] - state->list_first[k];
        if (n > 1)
            add_gauge(state, domains, n);
        else
            pin(state, 2 * (size_t)*domains);
        for (size_t i = 0; i < n; i++)
            if (n == 1 || state->steady[domains[i]])
                pin(state, 2 * (size_t)domains[i] + 1);
    }
}

static tm_network_scales network_scales(const tm_fit_state *state, const double of[2]) {
    double n = 0.0;
    for (int32_t class = 0; class < state->n_classes; class ++)
        n += (double)state->n_of_class[class];
    return (tm_network_scales){.of = {of[0], of[1]},
                               .least_ns = tm_fit_least_noise(state),
                               .bound = tm_exact_scale(n * TM_NETWORK_VAGUEST)};
}

/* Adds the events of this process. The weight of an anchor falls with its distance from the
 * median. */
static void add_events(tm_fit_state *state, bool robust, const tm_network_scales *scales) {
    for (size_t k = 0; k < state->n_events; k++) {
        const tm_fit_event *event = state->events + k;
        double middle = 0.0;
        size_t n = event->suspect ? 0 : tm_fit_gather(state, event, &middle);
        for (size_t i = 0; i < n && n > 1; i++) {
            tm_anchor *anchor = state->anchors + i;
            double distance = tm_fit_distance(state, anchor, middle, n);
            anchor->weight = tm_fit_weight(state, anchor, distance, robust);
        }
        if (n > 1 && state->dense)
            tm_normal_add(&state->normal, state->anchors, n, scales->of);
        else if (n > 1)
            tm_network_add(&state->network, event->spot, state->anchors, n, scales);
    }
}

/**
 * Sums the normal equations of the current fit over all processes, adds the priors and factorises.
 * @param robust  if true, uses Tukey's weights, and the same drifts stay 0 as in the last call. If
 *                false, uses Huber's weights, and chooses the drifts that stay 0.
 */
tm_status tm_fit_normal(tm_fit_state *state, bool robust, tm_error *err) {
    tm_normal *normal = &state->normal;
    tm_network *network = &state->network;
    double of[2];
    tm_fit_scales(state, of);
    const tm_network_scales scales = network_scales(state, of);
    if (state->dense)
        tm_normal_clear(normal);
    else
        tm_network_clear(network);
    add_events(state, robust, &scales);
    if (state->dense) {
        TM_TRY(tm_fit_sum(state, normal->fixed, tm_normal_size(state->n_domains), err));
        tm_normal_expand(normal, of);
    } else {
        TM_TRY(tm_fit_sum(state, network->fixed, network->n_fixed, err));
        tm_network_expand(network, &scales);
    }
    if (!robust)
        hold_steady(state);
    add_priors(state);
    close_components(state);
    if (state->dense)
        tm_normal_factor(normal);
    else
        tm_network_factor(network);
    return TM_OK;
}

const double *tm_fit_solve(tm_fit_state *state) {
    if (state->dense)
        tm_normal_solve(&state->normal);
    else
        tm_network_solve(&state->network);
    return state->dense ? state->normal.right : state->network.right;
}

void tm_fit_covariance(tm_fit_state *state, int32_t domain, double out[3]) {
    if (state->dense)
        tm_normal_covariance(&state->normal, domain, &out[0], &out[1], &out[2]);
    else
        tm_network_covariance(&state->network, domain, out);
}
