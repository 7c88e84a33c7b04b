/* State shared by the parts of the clock fit, freed at the end of tm_clock_fit_all.
 *
 * Functions with a tm_error are collective over the reducer's processes. tm_fit_state_create
 * allocates everything whose size follows from the input. */
#ifndef TMERGE_CLOCK_FIT_STATE_H
#define TMERGE_CLOCK_FIT_STATE_H

#include "fit.h"
#include "network.h"
#include "solve.h"

/** A row of the input. Times are integers [ns] relative to the middle of the domain's window, with
 * magnitude below 2^50. */
typedef struct tm_fit_row {
    double begin, end_min, end;
    /* Square root of n_ranks. The errors of a domain's ranks are not independent, so an end's
     * weight (1/variance) grows only with this root. */
    double root;
    size_t input;
    int32_t domain, n_ranks;
    uint16_t noise_class;
    uint8_t flags, stratum;
    bool compressed; /* set by tm_fit_compress: the row is not an anchor for now */
} tm_fit_row;

typedef struct tm_fit_event {
    size_t first; /* index of the event's first row */
    size_t n, n_anchors;
    bool suspect;
    tm_network_spot spot; /* set only if the equations are a network */
} tm_fit_event;

/** A value and its weight, for a weighted median. */
typedef struct tm_fit_vote {
    double value, weight;
} tm_fit_vote;

typedef struct tm_fit_state {
    const tm_clock_input *input;
    const tm_clock_reducer *reducer;
    int32_t n_domains, n_classes;
    tm_fit_row *rows;     /* [n_rows] the rows of this process */
    tm_fit_event *events; /* [n_events] */
    size_t n_rows, n_events;

    /* The current fit, by domain. True times count from the middle of the lead domain's window. */
    double *middle; /* true time of the middle of the domain's window [ns] */
    double *rate;   /* drift, without unit */
    double *wall;   /* true time of the window's middle by the domain's wall clock; meaningless if
                       sigma is infinite */
    double *sigma;  /* standard deviation of `wall` */
    bool *steady;   /* the data do not determine the domain's drift, which stays 0 */
    int32_t lead;
    int32_t *strong; /* lowest domain that anchors link to this domain, directly or not */
    /* lowest domain that anchors or bounds link to this domain, directly or not */
    int32_t *component;
    /* 0 if anchors link the domain to its component. Otherwise, bounds limit the domain's offset
     * from the component to an interval, and this is half the width of the interval. */
    double *tied;

    double *noise;       /* [n_classes] standard deviation of ends [ns] */
    double any_noise;    /* standard deviation of all ends [ns] */
    int64_t *n_of_class; /* [n_classes] number of anchors of all processes; an anchor counts as its
                            `root`, rounded up */
    double reach;        /* largest distance [ns] of an anchor from the middle of its domain's
                            window */

    bool dense; /* true: the equations are in `normal`; false: they are in `network` */
    tm_normal normal;
    tm_network network;
    /* keys of two int32_t: pairs of domains that share events, from tm_fit_link */
    tm_keys pairs;
    tm_vec pair_counts;      /* vector of int64_t: number of events of each pair */
    bool failed;             /* memory ran out while pairs were added */
    int32_t *listed;         /* [n_domains] result of tm_fit_list, like the next two members */
    size_t *list_first;      /* [n_domains + 1] */
    int32_t *list_of;        /* [n_domains] */
    tm_median_search select; /* has two lists for each domain */
    tm_anchor *anchors;      /* [n_domains] the anchors of the current event */
    double *sorted;          /* [n_domains] */
    tm_fit_vote *votes;      /* [n_domains] */
    int32_t *parent;         /* [n_domains] */
    int32_t *step_bin; /* [n_domains] bin before which the clock was stepped; 0: not stepped */
    /* [n_domains] First and last true time of the domain's events. The time between them is divided
     * into bins. */
    double *first, *last;
    int64_t *counts; /* [n_counts] for reductions */
    size_t n_counts;
} tm_fit_state;

/** Number of time bins for each domain in the search for clock steps. */
#define TM_FIT_BINS ((size_t)32)

/** Creates the state and copies the rows. Fails on all processes if one of them fails, and then
 * leaves nothing to free.
 * @param ready  false if the caller is out of memory */
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

/** Converts a time relative to the middle of the domain's window to true time [ns], by the current
 * fit. */
static inline double tm_fit_true(const tm_fit_state *state, int32_t domain, double since) {
    return state->middle[domain] + since + state->rate[domain] * since;
}

/** Returns the standard deviation of the ends of a class [ns]. */
static inline double tm_fit_noise(const tm_fit_state *state, uint16_t noise_class) {
    return state->noise[noise_class] > 0.0 ? state->noise[noise_class] : state->any_noise;
}

/**
 * Fills `anchors` with the anchors of an event. Their true times are by the current fit.
 * @param middle  set to the median of these times [ns] if there are at least two
 * @return        number of anchors; fewer than two give no information
 */
size_t tm_fit_gather(tm_fit_state *state, const tm_fit_event *event, double *middle);

/** Returns the distance [ns] of one rank's end from the true middle of the event, estimated from
 * the anchor's distance from the median of the ends. Ends are closer to their own median than to
 * the true middle: by a factor of sqrt(2) for two ends, and by a simulated factor for larger even
 * numbers. For odd numbers the factor is 1 if the median itself is left out. An anchor that is the
 * median of several ranks is closer by another factor of sqrt(`root`). */
static inline double tm_fit_distance(const tm_fit_state *state, const tm_anchor *anchor,
                                     double middle, size_t n) {
    double nearer = n == 2 ? 1.4142 : n % 2 == 0 ? 1.0 + 1.5 / (double)n : 1.0;
    return (anchor->y - middle) * nearer * sqrt(state->rows[anchor->row].root);
}

/** Returns the standard deviation of the ends of one rank in the anchor's class [ns]. */
static inline double tm_fit_anchor_noise(const tm_fit_state *state, const tm_anchor *anchor) {
    return tm_fit_noise(state, state->rows[anchor->row].noise_class);
}

/**
 * Lists the domains of each component. Lists are ordered by their lowest domain. List k is
 * listed[list_first[k]] up to listed[list_first[k + 1] - 1], ascending. list_of[h] is the list of
 * domain h.
 * @param component  [n_domains] for each domain: the domain that stands for its component
 * @return           number of lists
 */
int32_t tm_fit_list(tm_fit_state *state, const int32_t *component); /* components.c */

/** Returns TM_ERR_FAULT (out of memory) on all processes if @p ok is false on one of them. */
tm_status tm_fit_agree(tm_fit_state *state, bool ok, tm_error *err) TM_MUST_CHECK; /* fit_state.c */

/** These functions solve the normal equations. tm_fit_normal must be called before tm_fit_solve and
 * before tm_fit_covariance. */
tm_status tm_fit_lay_out(tm_fit_state *state, tm_network_aim aim,
                         tm_error *err) TM_MUST_CHECK; /* equations.c */
/* [2 n_domains] unknowns, in the order of tm_normal */
const double *tm_fit_solve(tm_fit_state *state);
void tm_fit_covariance(tm_fit_state *state, int32_t domain, double out[3]);

/** The parts of the fit in the order in which they run, documented where they are defined. */
tm_status tm_fit_link(tm_fit_state *state, tm_error *err) TM_MUST_CHECK; /* components.c */
void tm_fit_gauge(tm_fit_state *state, const int32_t *component);        /* components.c */
tm_status tm_fit_tie(tm_fit_state *state, tm_error *err) TM_MUST_CHECK;  /* ties.c */
tm_status tm_fit_iterate(tm_fit_state *state, int32_t *n,
                         tm_error *err) TM_MUST_CHECK; /* reweight.c */
tm_status tm_fit_compress(tm_fit_state *state, int64_t *n,
                          tm_error *err) TM_MUST_CHECK; /* reweight.c */
void tm_fit_take_back(tm_fit_state *state);             /* reweight.c */
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
                       tm_error *err) TM_MUST_CHECK; /* stepped_clocks.c */
tm_status tm_fit_project(tm_fit_state *state, const tm_clock_model *models, bool *moved,
                         tm_error *err) TM_MUST_CHECK; /* bounds.c */
tm_status tm_fit_bound(tm_fit_state *state, tm_clock_model *models, tm_error *err) TM_MUST_CHECK;

#endif
