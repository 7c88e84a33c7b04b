/* What the parts of the clock fit share while it runs. Nothing of this outlives tm_clock_fit_all.
 *
 * Functions with a tm_error are collective over the reducer's processes. Memory whose size follows
 * from the input is taken by tm_fit_state_create. */
#ifndef TMERGE_CLOCK_FIT_STATE_H
#define TMERGE_CLOCK_FIT_STATE_H

#include "fit.h"
#include "network.h"
#include "solve.h"

/** A row of the input; times [ns] from the middle of its domain's window, whole and below 2^50. */
typedef struct tm_fit_row {
    double begin, end_min, end;
    double root; /* of its number of ranks, whose errors are not independent: 1/variance grows with
                    it */
    size_t input;
    int32_t domain, n_ranks;
    uint16_t noise_class;
    uint8_t flags, stratum;
    bool aside; /* by tm_fit_put_aside: no anchor for now */
} tm_fit_row;

typedef struct tm_fit_event {
    size_t first; /* of its rows */
    size_t n, n_anchors;
    bool suspect;
    tm_network_spot spot; /* where the equations are a network */
} tm_fit_event;

/** A value with the weight it has in a median. */
typedef struct tm_fit_vote {
    double value, weight;
} tm_fit_vote;

typedef struct tm_fit_state {
    const tm_clock_input *input;
    const tm_clock_reducer *reducer;
    int32_t n_domains, n_classes;
    tm_fit_row *rows;     /* [n_rows] of this process */
    tm_fit_event *events; /* [n_events] */
    size_t n_rows, n_events;

    /* The present fit, by domain. True times count from the middle of the lead domain's window. */
    double *middle; /* true time of the middle of its window [ns] */
    double *rate;   /* drift, without unit */
    double *wall;   /* what its wall clock says of `middle`, meaningless where sigma is infinite */
    double *sigma;  /* standard deviation of that */
    bool *steady;   /* its drift cannot be seen, and stays 0 */
    int32_t lead;
    int32_t *strong;    /* lowest domain of those linked by anchors */
    int32_t *component; /* lowest domain of those linked by anchors or bounds */
    double *tied; /* half width of the interval that links it to its component; 0 by anchors */

    double *noise;       /* [n_classes] spread of ends [ns] */
    double any_noise;    /* over all classes */
    int64_t *n_of_class; /* [n_classes] anchors of all processes, each by its root, rounded up */
    double reach;        /* largest distance [ns] of an anchor from its window's middle */

    bool dense; /* the equations are in normal, else in network */
    tm_normal normal;
    tm_network network;
    tm_keys pairs;           /* of two int32_t: what tm_fit_link links, and */
    tm_vec pair_counts;      /* of int64_t: in how many events */
    bool failed;             /* memory for these is out */
    int32_t *listed;         /* [n_domains] by tm_fit_list */
    size_t *list_first;      /* [n_domains + 1] */
    int32_t *list_of;        /* [n_domains] */
    tm_median_search select; /* two lists for each domain */
    tm_anchor *anchors;      /* [n_domains] of the event at hand */
    double *sorted;          /* [n_domains] */
    tm_fit_vote *votes;      /* [n_domains] */
    int32_t *parent;         /* [n_domains] */
    int32_t *step_bin;       /* [n_domains] before which a clock was set; 0 where it was not */
    double *first, *last;    /* [n_domains] true times of its events, for the bins */
    int64_t *counts;         /* [n_counts] for reductions */
    size_t n_counts;
} tm_fit_state;

/** How many bins of time each window has for the search of a set clock. */
#define TM_FIT_BINS ((size_t)32)

/** Copies the rows and agrees with the other processes; on failure nothing is to be freed.
 * @param ready  false where the caller is out of memory, which becomes known to all here */
tm_status tm_fit_state_create(const tm_clock_input *input, const tm_clock_reducer *reducer,
                              bool ready, tm_fit_state **out, tm_error *err) TM_MUST_CHECK;
void tm_fit_state_destroy(tm_fit_state *state);

static inline tm_status tm_fit_sum(const tm_fit_state *state, int64_t *values, size_t n,
                                   tm_error *err) {
    return state->reducer->sum(state->reducer->context, values, n, err);
}

static inline tm_status tm_fit_max(const tm_fit_state *state, int64_t *values, size_t n,
                                   tm_error *err) {
    return state->reducer->max(state->reducer->context, values, n, err);
}

/** True time [ns] of a time from the middle of the domain's window, by the present fit. */
static inline double tm_fit_true(const tm_fit_state *state, int32_t domain, double since) {
    return state->middle[domain] + since + state->rate[domain] * since;
}

/** Spread of the ends of a class [ns]. */
static inline double tm_fit_noise(const tm_fit_state *state, uint16_t noise_class) {
    return state->noise[noise_class] > 0.0 ? state->noise[noise_class] : state->any_noise;
}

/**
 * Fills `anchors` with those of an event and their times by the present fit.
 * @param middle  median of these [ns]; set where there are two or more
 * @return        how many there are; fewer than two say nothing
 */
size_t tm_fit_gather(tm_fit_state *state, const tm_fit_event *event, double *middle);

/** An anchor's distance from the event's middle [ns], as an end of one rank against a known middle
 * would have it. Ends are nearer to their own median than to that: by the root of 2 for two, by
 * what a simulation of normal ends gives for other even numbers, by nothing for odd ones where the
 * median itself is left out. A median of several ranks is nearer by the root of `root`. */
static inline double tm_fit_distance(const tm_fit_state *state, const tm_anchor *anchor,
                                     double middle, size_t n) {
    double nearer = n == 2 ? 1.4142 : n % 2 == 0 ? 1.0 + 1.5 / (double)n : 1.0;
    return (anchor->y - middle) * nearer * sqrt(state->rows[anchor->row].root);
}

/** Spread of an anchor's class [ns]: of ends of one rank. */
static inline double tm_fit_anchor_noise(const tm_fit_state *state, const tm_anchor *anchor) {
    return tm_fit_noise(state, state->rows[anchor->row].noise_class);
}

/**
 * Lists the domains of each component: list k of those, ascending by lowest domain, is
 * listed[list_first[k]] up to [list_first[k + 1]], ascending, and list_of tells a domain's k.
 * @param component  [n_domains] a domain of each one's, which has itself  @return  how many lists
 */
int32_t tm_fit_list(tm_fit_state *state, const int32_t *component); /* components.c */

/** Fails on all processes where it does on one: of memory that only some need. */
tm_status tm_fit_agree(tm_fit_state *state, bool ok, tm_error *err) TM_MUST_CHECK; /* fit_state.c */

/** Whatever solves the normal equations. After tm_fit_normal: */
tm_status tm_fit_lay_out(tm_fit_state *state, tm_network_aim aim,
                         tm_error *err) TM_MUST_CHECK; /* equations.c */
const double *tm_fit_solve(tm_fit_state *state);       /* [2 n_domains], as tm_normal has them */
void tm_fit_covariance(tm_fit_state *state, int32_t domain, double out[3]);

/** What the parts do, in this order; each is described where it is. */
tm_status tm_fit_link(tm_fit_state *state, tm_error *err) TM_MUST_CHECK; /* components.c */
void tm_fit_gauge(tm_fit_state *state, const int32_t *component);        /* components.c */
tm_status tm_fit_tie(tm_fit_state *state, tm_error *err) TM_MUST_CHECK;  /* ties.c */
tm_status tm_fit_iterate(tm_fit_state *state, int32_t *n,
                         tm_error *err) TM_MUST_CHECK; /* reweight.c */
tm_status tm_fit_put_aside(tm_fit_state *state, int64_t *n,
                           tm_error *err) TM_MUST_CHECK; /* reweight.c */
void tm_fit_take_back(tm_fit_state *state);              /* reweight.c */
tm_status tm_fit_normal(tm_fit_state *state, bool robust,
                        tm_error *err) TM_MUST_CHECK; /* equations.c */
void tm_fit_scales(const tm_fit_state *state, double scales[2]);
double tm_fit_weight(const tm_fit_state *state, const tm_anchor *anchor, double distance,
                     bool robust);
double tm_fit_least_noise(const tm_fit_state *state);
tm_status tm_fit_suspect(tm_fit_state *state, int64_t *n,
                         tm_error *err) TM_MUST_CHECK; /* causality.c */
tm_status tm_fit_check(tm_fit_state *state, tm_clock_check *out, tm_error *err) TM_MUST_CHECK;
tm_status tm_fit_uncertain(tm_fit_state *state, tm_clock_model *models,
                           tm_error *err) TM_MUST_CHECK; /* uncertainty.c */
tm_status tm_fit_steps(tm_fit_state *state, tm_clock_model *models,
                       tm_error *err) TM_MUST_CHECK; /* steps.c */
tm_status tm_fit_project(tm_fit_state *state, const tm_clock_model *models, bool *moved,
                         tm_error *err) TM_MUST_CHECK; /* bounds.c */
tm_status tm_fit_bound(tm_fit_state *state, tm_clock_model *models, tm_error *err) TM_MUST_CHECK;

#endif
