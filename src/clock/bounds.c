/* Enforces causality: corrects a fit that violates causality, and finds for each clock the interval
 * in which it violates nothing. */
#include "fit_state.h"

#include <stdlib.h>

enum { MAX_SWEEPS = 50 };
#define PROJECT_SIGMAS 3.0 /* maximum distance that a clock is moved, in standard deviations */

/* The two largest values of an event, which are from different domains. A domain is bounded only by
 * the values of other domains. So the domain that has `first` is bounded by `second`. */
typedef struct outermost {
    double first, second;
    int32_t domain; /* domain of `first`; -1 if there is no value */
} outermost;

static void push_out(outermost *most, int32_t domain, double value) {
    if (most->domain < 0 || value > most->first) {
        most->second = most->first;
        most->first = value;
        most->domain = domain;
    } else if (value > most->second) {
        most->second = value;
    }
}

static double other_than(const outermost *most, int32_t domain) {
    return most->domain == domain ? most->second : most->first;
}

/* Finds the outermost times of an event within a component, on the fitted clocks. out[0] receives
 * the two latest starts, and out[1] the two earliest ends. Ends are negated. If @p give is not
 * NULL, give[h] is added to the starts of domain h. If @p take is not NULL, take[h] is added to its
 * negated ends. */
static void find_outermost(const tm_fit_state *state, const tm_fit_event *event, const double *give,
                           const double *take, outermost out[2]) {
    out[0] = out[1] = (outermost){.first = -HUGE_VAL, .second = -HUGE_VAL, .domain = -1};
    for (size_t i = 0; i < event->n; i++) {
        const tm_fit_row *row = state->rows + event->first + i;
        int32_t h = row->domain;
        if (row->flags & TM_CLOCK_GIVES)
            push_out(&out[0], h, rint(tm_fit_true(state, h, row->begin)) + (give ? give[h] : 0.0));
        if (row->flags & TM_CLOCK_TAKES)
            push_out(&out[1], h,
                     -rint(tm_fit_true(state, h, row->end_min)) + (take ? take[h] : 0.0));
    }
}

static bool usable(const tm_fit_state *state, const tm_fit_event *event) {
    if (event->suspect || event->n < 2)
        return false;
    for (size_t i = 1; i < event->n; i++)
        if (state->component[state->rows[event->first + i].domain] !=
            state->component[state->rows[event->first].domain])
            return false;
    return true;
}

/* Finds by how much domains violate causality within their component. Sets state->counts: the first
 * half is how much too late each domain starts, and the second half how much too early it ends. A
 * domain without a violation gets 0. Sets *worst to the largest violation. */
static tm_status find_breaches(tm_fit_state *state, int64_t *worst, tm_error *err) {
    size_t n = (size_t)state->n_domains;
    memset(state->counts, 0, 2 * n * sizeof *state->counts);
    for (size_t k = 0; k < state->n_events; k++) {
        const tm_fit_event *event = state->events + k;
        outermost most[2];
        if (!usable(state, event))
            continue;
        find_outermost(state, event, NULL, NULL, most);
        for (size_t i = 0; i < event->n; i++) {
            const tm_fit_row *row = state->rows + event->first + i;
            size_t h = (size_t)row->domain;
            double late = rint(tm_fit_true(state, row->domain, row->begin)) +
                          other_than(&most[1], row->domain);
            double early = other_than(&most[0], row->domain) -
                           rint(tm_fit_true(state, row->domain, row->end_min));
            if (row->flags & TM_CLOCK_GIVES && late > (double)state->counts[h])
                state->counts[h] = (int64_t)late;
            if (row->flags & TM_CLOCK_TAKES && early > (double)state->counts[n + h])
                state->counts[n + h] = (int64_t)early;
        }
    }
    TM_TRY(tm_fit_max(state, state->counts, 2 * n, err));
    *worst = 0;
    for (size_t i = 0; i < n; i++)
        *worst = state->counts[i] > *worst ? state->counts[i] : *worst;
    return TM_OK;
}

/**
 * Moves clocks until no event of a component violates causality. Each violation is split evenly
 * between its two domains. In each direction, a domain moves by the largest of its shares. Leaves
 * the fit unchanged if this fails, or if a clock would move by more than PROJECT_SIGMAS
 * uncertainties.
 * @param models  the uncertainties are read
 * @param moved   set to whether the fit has changed
 */
tm_status tm_fit_project(tm_fit_state *state, const tm_clock_model *models, bool *moved,
                         tm_error *err) {
    int32_t n = state->n_domains;
    double *before = state->sorted;
    int64_t worst = 0;
    bool allowed = true;
    memcpy(before, state->middle, (size_t)n * sizeof *before);
    TM_TRY(find_breaches(state, &worst, err));
    *moved = worst > 0;
    for (int i = 0; i < MAX_SWEEPS && worst > 0; i++) {
        for (int32_t h = 0; h < n; h++)
            state->middle[h] +=
                ceil((double)state->counts[n + h] / 2.0) - ceil((double)state->counts[h] / 2.0);
        TM_TRY(find_breaches(state, &worst, err));
    }
    for (int32_t h = 0; h < n; h++)
        allowed = allowed &&
                  fabs(state->middle[h] - before[h]) <= PROJECT_SIGMAS * models[h].uncertainty_ns;
    if (worst > 0 || !allowed) {
        memcpy(state->middle, before, (size_t)n * sizeof *before);
        *moved = false;
    }
    return TM_OK;
}

/* Finds the reference of each component: the domain with the most anchors. */
static void find_references(const tm_fit_state *state, const tm_clock_model *models,
                            int32_t *reference) {
    for (int32_t h = 0; h < state->n_domains; h++)
        reference[h] = -1;
    for (int32_t h = 0; h < state->n_domains; h++) {
        int32_t *best = &reference[state->component[h]];
        if (*best < 0 || models[h].anchors > models[*best].anchors)
            *best = h;
    }
}

/* How far each clock can move up (`up`) and down (`down`) while the reference stays fixed. `up` and
 * `down` are negated, so that the tightest bound is the maximum. Rounds of Bellman-Ford find
 * them. */
typedef struct bounds {
    tm_fit_state *state;
    double *up, *down, slack;
    bool *moved; /* [domains] whether the last round changed the bounds of the domain */
    /* Lists of the events of each domain. If there is no memory for the lists, tightening takes
     * longer. */
    size_t *first;   /* [domains + 1] index into `event` */
    uint32_t *event; /* indices of events, domain after domain */
    uint32_t *round; /* [events] last round that examined the event */
} bounds;

static void free_lists(bounds *b) {
    free(b->moved);
    free(b->first);
    free(b->event);
    free(b->round);
    b->moved = NULL;
    b->first = NULL;
    b->event = b->round = NULL;
}

static void list_events(bounds *b) {
    const tm_fit_state *state = b->state;
    size_t n = (size_t)state->n_domains, n_rows = 0;
    for (size_t k = 0; k < state->n_events; k++)
        n_rows += state->events[k].n;
    b->moved = calloc(n + 1, sizeof *b->moved);
    b->first = calloc(n + 2, sizeof *b->first);
    b->event = malloc((n_rows + 1) * sizeof *b->event);
    b->round = calloc(state->n_events + 1, sizeof *b->round);
    if (!b->moved || !b->first || !b->event || !b->round || state->n_events > UINT32_MAX) {
        free_lists(b);
        return;
    }
    size_t *next = b->first + 1;
    for (size_t k = 0; k < state->n_events; k++)
        for (size_t i = 0; i < state->events[k].n; i++)
            next[state->rows[state->events[k].first + i].domain + 1]++;
    for (size_t h = 1; h <= n; h++)
        next[h] += next[h - 1];
    for (size_t k = 0; k < state->n_events; k++)
        for (size_t i = 0; i < state->events[k].n; i++)
            b->event[next[state->rows[state->events[k].first + i].domain]++] = (uint32_t)k;
}

/* Tightens, in `counts`, the bounds of the domains of one event. */
static void tighten_by(const bounds *b, const tm_fit_event *event) {
    const tm_fit_state *state = b->state;
    size_t n = (size_t)state->n_domains;
    outermost most[2];
    if (!usable(state, event))
        return;
    /* most[0] has the latest starts, with all clocks moved down by their bounds so far. most[1] has
     * the earliest ends, negated, with all clocks moved up by their bounds. */
    find_outermost(state, event, b->down, b->up, most);
    for (size_t i = 0; i < event->n; i++) {
        const tm_fit_row *row = state->rows + event->first + i;
        size_t h = (size_t)row->domain;
        double raise = rint(tm_fit_true(state, row->domain, row->begin)) +
                       other_than(&most[1], row->domain) - b->slack;
        double lower = other_than(&most[0], row->domain) -
                       rint(tm_fit_true(state, row->domain, row->end_min)) - b->slack;
        if (row->flags & TM_CLOCK_GIVES && raise > (double)state->counts[h])
            state->counts[h] = (int64_t)raise;
        if (row->flags & TM_CLOCK_TAKES && lower > (double)state->counts[n + h])
            state->counts[n + h] = (int64_t)lower;
    }
}

/* Runs round @p round (from 1). Only events of domains whose bounds changed in the previous round
 * are examined. Other events would give the same bounds as before. */
static void tighten(const bounds *b, uint32_t round) {
    const tm_fit_state *state = b->state;
    for (size_t k = 0; k < state->n_events && !b->first; k++)
        tighten_by(b, state->events + k);
    for (size_t h = 0; h < (size_t)state->n_domains && b->first && b->moved; h++)
        for (size_t i = b->first[h]; i < b->first[h + 1] && b->moved[h]; i++) {
            uint32_t *last = &b->round[b->event[i]];
            if (*last != round)
                tighten_by(b, state->events + b->event[i]);
            *last = round;
        }
}

/* A bound that is not yet known. Sums with it are exact, both as double and as integer. */
#define FAR_NS 0x1p52

/* Takes the bounds of a round from `counts`. Returns whether any bound changed. */
static bool take_round(bounds *b) {
    const int64_t *counts = b->state->counts;
    size_t n = (size_t)b->state->n_domains;
    bool any = false;
    for (size_t h = 0; h < n; h++) {
        bool moved = (double)counts[h] != b->up[h] || (double)counts[n + h] != b->down[h];
        b->up[h] = (double)counts[h];
        b->down[h] = (double)counts[n + h];
        any = any || moved;
        if (b->moved)
            b->moved[h] = moved;
    }
    return any;
}

/* Repeats rounds until no bound changes. Only the references have bounds at first: 0. */
static tm_status find_bounds(bounds *b, tm_error *err) {
    tm_fit_state *state = b->state;
    size_t n = (size_t)state->n_domains;
    bool changed = true;
    for (size_t h = 0; h < n && b->moved; h++)
        b->moved[h] = b->up[h] > -FAR_NS;
    for (size_t round = 0; round < n + 1 && changed; round++) {
        for (size_t h = 0; h < n; h++) {
            state->counts[h] = (int64_t)b->up[h];
            state->counts[n + h] = (int64_t)b->down[h];
        }
        tighten(b, (uint32_t)round + 1);
        TM_TRY(tm_fit_max(state, state->counts, 2 * n, err));
        changed = take_round(b);
    }
    return TM_OK;
}

/**
 * Sets the interval in which each clock must lie. The interval follows from two assumptions: the
 * reference clock of the component is right, and no event violates causality by more than it does
 * on the fitted clocks. The fitted clock is always inside the interval.
 * @param models  the anchors are read; low and high (relative to the fit's offset) and bounded are
 *                set
 */
tm_status tm_fit_bound(tm_fit_state *state, tm_clock_model *models, tm_error *err) {
    size_t n = (size_t)state->n_domains;
    int32_t *reference = state->parent;
    double *up = state->first, *down = state->last; /* scratch */
    int64_t slack = 0;
    find_references(state, models, reference);
    TM_TRY(find_breaches(state, &slack, err));
    for (size_t h = 0; h < n; h++) {
        bool still = reference[state->component[h]] == (int32_t)h;
        up[h] = down[h] = still ? 0.0 : -FAR_NS;
    }
    bounds b = {.state = state, .up = up, .down = down, .slack = (double)slack};
    list_events(&b);
    tm_status status = find_bounds(&b, err);
    free_lists(&b);
    TM_TRY(status);
    for (size_t h = 0; h < n; h++) {
        /* A bound that was not found still contains -FAR_NS, so it is below -FAR_NS / 2. Real
         * bounds are far above that. */
        models[h].bounded =
            up[h] > -FAR_NS / 2 && down[h] > -FAR_NS / 2 && models[h].method == TM_CLOCK_FIT;
        models[h].low_ns = models[h].bounded ? (int64_t)down[h] : 0;
        models[h].high_ns = models[h].bounded ? (int64_t)-up[h] : 0;
    }
    return TM_OK;
}
