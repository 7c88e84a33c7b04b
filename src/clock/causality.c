/* Checks whether the fit obeys causality, and finds events that must be wrong matches. */
#include "fit_state.h"

/* An event is suspect if an end in it is earlier than a start by more than this many noises. */
#define SUSPECT_NOISES 5.0
/* an end is far off if it is more than this many noises from the median */
#define FAR_NOISES 10.0
/* an event is also suspect if more than this share of its ranks have ends that are far off */
#define FAR_SHARE 0.3

/* Converts a domain's time to true time. */
typedef double clock_reader(const tm_fit_state *state, int32_t domain, double since);

/* Returns how long the earliest end with TM_CLOCK_TAKES is before the latest start with
 * TM_CLOCK_GIVES; -infinity if there is no such end or start. */
static double lead_of(const tm_fit_state *state, const tm_fit_event *event, clock_reader *clock) {
    double begin = -HUGE_VAL, end = HUGE_VAL;
    for (size_t i = 0; i < event->n; i++) {
        const tm_fit_row *row = state->rows + event->first + i;
        if (row->flags & TM_CLOCK_GIVES)
            begin = fmax(begin, clock(state, row->domain, row->begin));
        if (row->flags & TM_CLOCK_TAKES)
            end = fmin(end, clock(state, row->domain, row->end_min));
    }
    return begin - end;
}

static double as_recorded(const tm_fit_state *state, int32_t domain, double since) {
    return state->wall[domain] + since;
}

/* Rounds to whole nanoseconds like tm_clock_true. */
static double as_fitted(const tm_fit_state *state, int32_t domain, double since) {
    return rint(tm_fit_true(state, domain, since));
}

static bool far_ends(tm_fit_state *state, const tm_fit_event *event) {
    double middle = 0.0, far = 0.0, all = 0.0;
    size_t n = tm_fit_gather(state, event, &middle);
    for (size_t i = 0; i < n && n > 1; i++) {
        const tm_anchor *anchor = state->anchors + i;
        double ranks = (double)state->rows[anchor->row].n_ranks;
        all += ranks;
        double noise = tm_fit_anchor_noise(state, anchor);
        if (fabs(tm_fit_distance(state, anchor, middle, n)) > FAR_NOISES * noise)
            far += ranks;
    }
    return far > FAR_SHARE * all;
}

/* Domains of different components have no common time, so that they cannot contradict each
 * other. */
static bool one_component(const tm_fit_state *state, const tm_fit_event *event) {
    for (size_t i = 1; i < event->n; i++)
        if (state->component[state->rows[event->first + i].domain] !=
            state->component[state->rows[event->first].domain])
            return false;
    return true;
}

/**
 * Marks as suspect the events that contradict the fit by more than noise.
 * @param n  set to the number of suspect events on all processes
 */
tm_status tm_fit_suspect(tm_fit_state *state, int64_t *n, tm_error *err) {
    double limit = SUSPECT_NOISES * fmax(tm_fit_least_noise(state), TM_CLOCK_TOLERANCE_NS);
    *n = 0;
    for (size_t k = 0; k < state->n_events; k++) {
        tm_fit_event *event = state->events + k;
        bool leads = lead_of(state, event, as_fitted) > limit;
        event->suspect = one_component(state, event) && (leads || far_ends(state, event));
        *n += event->suspect;
    }
    return tm_fit_sum(state, n, 1, err);
}

/** Counts the events in which one domain ended before another had started: on the recorded clocks,
 * and on the fitted clocks. */
tm_status tm_fit_check(tm_fit_state *state, tm_clock_check *out, tm_error *err) {
    int64_t counts[5] = {0}, worst[2] = {0};
    for (size_t k = 0; k < state->n_events; k++) {
        const tm_fit_event *event = state->events + k;
        if (event->suspect || event->n == 0)
            continue;
        double before = lead_of(state, event, as_recorded),
               after = lead_of(state, event, as_fitted);
        if (!isfinite(before))
            continue;
        counts[0]++;
        counts[1] += before > 0.0;
        counts[2] += after > 0.0;
        counts[3] += before > TM_CLOCK_TOLERANCE_NS;
        counts[4] += after > TM_CLOCK_TOLERANCE_NS;
        worst[0] = before > (double)worst[0] ? (int64_t)before : worst[0];
        worst[1] = after > (double)worst[1] ? (int64_t)after : worst[1];
    }
    TM_TRY(tm_fit_sum(state, counts, 5, err));
    TM_TRY(tm_fit_max(state, worst, 2, err));
    *out = (tm_clock_check){.events = counts[0],
                            .before = counts[1],
                            .after = counts[2],
                            .before_over = counts[3],
                            .after_over = counts[4],
                            .worst_before_ns = worst[0],
                            .worst_after_ns = worst[1]};
    return TM_OK;
}
