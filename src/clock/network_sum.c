/* Adds the events to the matrix of a network. */
#include <math.h>
#include <string.h>

#include "base/sorted.h"
#include "network.h"

void tm_network_clear(tm_network *w) {
    memset(w->fixed, 0, w->n_fixed * sizeof *w->fixed);
    memset(w->pinned, 0, w->n_unknowns * sizeof *w->pinned);
}

static int64_t *bin_of(const tm_network *w, tm_network_spot spot) {
    const tm_network_set *set = (const tm_network_set *)w->sets.data + spot.set;
    return w->fixed + w->bin_at[set->first_bin + spot.place * set->n_bins / set->n_keys];
}

/* Returns the four numbers of `fixed` for the link of two domains, low < high. */
static int64_t *link_of(const tm_network *w, int32_t low, int32_t high) {
    uint64_t key = (uint64_t)low << 32 | (uint32_t)high;
    size_t l = tm_bisect(w->links.data, w->links.n, sizeof key, &key, tm_is_less_u64);
    return w->fixed + 5 * (size_t)w->n + 4 * l;
}

static void add_square(int64_t *own, double weight, double x, double scale) {
    own[0] += tm_exact_fixed(weight, scale);
    own[1] += tm_exact_fixed(weight * x, scale);
    own[2] += tm_exact_fixed(weight * x * x, scale);
}

/* Adds a collective (an event, see network.h) of few domains. The unknown time at which it ended on
 * all of them is eliminated at once, so each pair of domains gets an entry. */
static void add_few(tm_network *w, const tm_anchor *anchors, size_t n, double sum, double scale) {
    for (size_t i = 0; i < n; i++) {
        const tm_anchor *g = anchors + i;
        double part = -g->weight / sum;
        for (size_t j = 0; j < i; j++) {
            const tm_anchor *h = anchors + j;
            double shift = part * h->weight, rate = shift * h->x;
            int64_t *block = link_of(w, h->domain, g->domain);
            block[0] += tm_exact_fixed(shift, scale);
            block[1] += tm_exact_fixed(rate, scale);
            block[2] += tm_exact_fixed(shift * g->x, scale);
            block[3] += tm_exact_fixed(rate * g->x, scale);
        }
        add_square(w->fixed + 3 * (size_t)g->domain, part * g->weight, g->x, scale);
    }
}

/* Adds an event to the mean of its bin. The event's weight in the mean is equal for all domains. */
static void add_to_mean(int64_t *bin, const tm_anchor *anchors, size_t n, double sum,
                        const tm_network_scales *scales) {
    double unit = scales->least_ns * scales->least_ns;
    double share = fmin(sum / (double)n * unit, 1.0);
    bin[0] += tm_exact_fixed(share, scales->bound);
    for (size_t i = 0; i < n; i++) {
        int64_t *own = bin + 1 + 3 * anchors[i].place;
        double weight = anchors[i].weight * unit;
        if (!(weight * TM_NETWORK_VAGUEST > share))
            continue;
        own[0] += tm_exact_fixed(share, scales->bound);
        own[1] += tm_exact_fixed(share * anchors[i].x, scales->bound);
        own[2] += tm_exact_fixed(share * share / weight, scales->bound);
    }
}

void tm_network_add(tm_network *w, tm_network_spot spot, const tm_anchor *anchors, size_t n,
                    const tm_network_scales *scales) {
    double sum = 0.0, mean = 0.0;
    bool few = spot.set == TM_NETWORK_NO_SET;
    for (size_t i = 0; i < n; i++) {
        sum += anchors[i].weight;
        mean += anchors[i].weight * anchors[i].y;
    }
    if (!(sum > 0.0))
        return;
    mean /= sum;
    if (w->aim == TM_NETWORK_BOUND && !few) {
        add_to_mean(bin_of(w, spot), anchors, n, sum, scales);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const tm_anchor *g = anchors + i;
        int64_t *right = w->fixed + 3 * (size_t)w->n + 2 * (size_t)g->domain;
        double push = g->weight * (mean - g->y);
        add_square(w->fixed + 3 * (size_t)g->domain, g->weight, g->x, scales->of[0]);
        right[0] += tm_exact_fixed(push, scales->of[1]);
        right[1] += tm_exact_fixed(push * g->x, scales->of[1]);
        if (few)
            continue;
        int64_t *own = bin_of(w, spot) + 1 + 3 * g->place;
        own[0] += tm_exact_fixed(g->weight, scales->of[0]);
        own[1] += tm_exact_fixed(g->weight * g->x, scales->of[0]);
    }
    if (few)
        add_few(w, anchors, n, sum, scales->of[0]);
}

/* Reads a domain's part in a bin: its weight, and its weight times x. For bounding, these are the
 * values for the mean of the domain's ends. They are 0 if the domain lacks an event of the bin. */
static void read_bin(tm_network *w, const int64_t *bin, size_t i, int32_t domain,
                     const tm_network_scales *scales, double out[2]) {
    const int64_t *own = bin + 1 + 3 * i;
    if (w->aim == TM_NETWORK_SOLVE) {
        out[0] = tm_exact_real(own[0], scales->of[0]);
        out[1] = tm_exact_real(own[1], scales->of[0]);
        return;
    }
    double shares = tm_exact_real(own[0], scales->bound), x = 0.0;
    double variance = tm_exact_real(own[2], scales->bound);
    out[0] = 0.0;
    if (own[0] == bin[0] && variance > 0.0) {
        out[0] = shares * shares / variance / (scales->least_ns * scales->least_ns);
        x = tm_exact_real(own[1], scales->bound) / shares;
    }
    out[1] = out[0] * x;
    double *diagonal = w->ldl.diagonal + tm_network_unknown(w, 2 * (size_t)domain);
    diagonal[0] += out[0];
    diagonal[1] += out[1] * x;
    w->ldl.entry[domain] += out[1];
}

static void expand_bin(tm_network *w, size_t b, const tm_network_scales *scales) {
    const tm_network_set *set = (const tm_network_set *)w->sets.data + w->set_of_bin[b];
    const tm_network_member *members = (const tm_network_member *)w->members.data + set->members;
    double *entry = w->ldl.entry + w->bin_entry[b], sum = 0.0;
    for (size_t i = 0; i < set->n_members; i++) {
        double own[2];
        read_bin(w, w->fixed + w->bin_at[b], i, (int32_t)members[i].domain, scales, own);
        entry[2 * i] = -own[0];
        entry[2 * i + 1] = -own[1];
        sum += own[0];
    }
    w->ldl.diagonal[2 * (size_t)w->n + b] = sum;
    for (size_t i = 0; i < 2 * set->n_members && sum > 0.0; i++)
        w->known[2 * (size_t)members[i / 2].domain + i % 2] -= entry[i] * entry[i] / sum;
}

void tm_network_expand(tm_network *w, const tm_network_scales *scales) {
    size_t n = (size_t)w->n;
    const int64_t *right = w->fixed + 3 * n, *links = w->fixed + 5 * n;
    memset(w->known, 0, 2 * n * sizeof *w->known);
    memset(w->ldl.entry, 0, w->places.n * sizeof *w->ldl.entry);
    for (size_t h = 0; h < n; h++) {
        double *diagonal = w->ldl.diagonal + tm_network_unknown(w, 2 * h);
        diagonal[0] = tm_exact_real(w->fixed[3 * h], scales->of[0]);
        w->ldl.entry[h] = tm_exact_real(w->fixed[3 * h + 1], scales->of[0]);
        diagonal[1] = tm_exact_real(w->fixed[3 * h + 2], scales->of[0]);
        w->right[2 * h] = tm_exact_real(right[2 * h], scales->of[1]);
        w->right[2 * h + 1] = tm_exact_real(right[2 * h + 1], scales->of[1]);
    }
    for (size_t i = 0; i < 4 * w->links.n; i++)
        w->ldl.entry[n + i] = tm_exact_real(links[i], scales->of[0]);
    for (size_t b = 0; b < w->n_bins; b++)
        expand_bin(w, b, scales);
    for (size_t h = 0; h < 2 * n; h++)
        w->known[h] += w->ldl.diagonal[tm_network_unknown(w, h)];
    for (size_t r = 2 * n + w->n_bins; r < w->n_unknowns; r++)
        w->ldl.diagonal[r] = -1.0;
}

void tm_network_prior(tm_network *w, size_t r, double weight, double right) {
    w->ldl.diagonal[tm_network_unknown(w, r)] += weight;
    w->known[r] += weight;
    w->right[r] += right;
}

/* Adds an unknown z with the terms 2 z (sum of c d) - z^2 / g. Eliminating z leaves the term g (sum
 * of c d)^2. z is eliminated last, so that it causes no fill-in. Until then, priors or the small
 * added weight keep the matrix regular. */
void tm_network_gauge(tm_network *w, const int32_t *domains, const double *shares, size_t n,
                      size_t which, double weight) {
    const double hardly = 1e-9;
    size_t root = (size_t)w->component[domains[0]], first = (size_t)domains[0];
    for (size_t i = 0; i < n; i++)
        w->ldl.entry[w->gauge_entry[domains[i]] + which] = shares[i];
    if (!(weight > 0.0))
        return;
    w->ldl.diagonal[2 * (size_t)w->n + w->n_bins + 2 * root + which] = -1.0 / weight;
    double *held = &w->ldl.diagonal[tm_network_unknown(w, 2 * first + which)];
    *held += hardly * *held;
}

void tm_network_pin(tm_network *w, size_t r) {
    w->pinned[tm_network_unknown(w, r)] = true;
    w->right[r] = 0.0;
}

void tm_network_factor(tm_network *w) {
    const tm_ldl_place *places = w->places.data;
    for (size_t i = 0; i < w->places.n; i++)
        if (w->pinned[places[i].row] || w->pinned[places[i].col])
            w->ldl.entry[i] = 0.0;
    for (size_t r = 0; r < 2 * (size_t)w->n; r++)
        if (w->pinned[r])
            w->ldl.diagonal[r] = 1.0;
    tm_ldl_factor(&w->ldl);
}

void tm_network_solve(tm_network *w) {
    memset(w->solution, 0, w->n_unknowns * sizeof *w->solution);
    for (size_t r = 0; r < 2 * (size_t)w->n; r++)
        w->solution[tm_network_unknown(w, r)] = w->right[r];
    tm_ldl_solve(&w->ldl, w->solution);
    for (size_t r = 0; r < 2 * (size_t)w->n; r++)
        w->right[r] = w->solution[tm_network_unknown(w, r)];
}

void tm_network_invert(tm_network *w) {
    tm_ldl_invert(&w->ldl);
}

/* A domain's rate comes right after its shift, so the rate is the first entry in the shift's
 * column. */
void tm_network_covariance(const tm_network *w, int32_t domain, double out[3]) {
    size_t r = tm_network_unknown(w, 2 * (size_t)domain);
    out[0] = w->ldl.variance[r];
    out[1] = w->ldl.inverse[w->ldl.first[r]];
    out[2] = w->ldl.variance[r + 1];
}
