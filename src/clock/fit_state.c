#include "fit_state.h"

#include <stdlib.h>

#include "base/median.h"

/* A time further than this (13 days) from the middle of the window is a wrong record. */
#define FARTHEST_NS ((int64_t)1 << 50)

void tm_fit_state_destroy(tm_fit_state *state) {
    if (!state)
        return;
    free(state->rows);
    free(state->events);
    free(state->middle);
    free(state->rate);
    free(state->wall);
    free(state->sigma);
    free(state->steady);
    free(state->strong);
    free(state->component);
    free(state->tied);
    free(state->noise);
    free(state->n_of_class);
    free(state->anchors);
    free(state->sorted);
    free(state->votes);
    free(state->parent);
    free(state->step_bin);
    free(state->first);
    free(state->last);
    free(state->counts);
    free(state->listed);
    free(state->list_first);
    free(state->list_of);
    tm_normal_free(&state->normal);
    tm_network_free(&state->network);
    tm_keys_free(&state->pairs);
    tm_vec_free(&state->pair_counts);
    tm_median_search_free(&state->select);
    free(state);
}

/* Maximum number of domains for which dense equations are faster than a network. */
enum { DENSE_MOST = 64 };

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static bool take_domains(tm_fit_state *state, size_t n) {
    state->middle = calloc(n + 1, sizeof *state->middle);
    state->rate = calloc(n + 1, sizeof *state->rate);
    state->wall = calloc(n + 1, sizeof *state->wall);
    state->sigma = calloc(n + 1, sizeof *state->sigma);
    state->steady = calloc(n + 1, sizeof *state->steady);
    state->strong = calloc(n + 1, sizeof *state->strong);
    state->component = calloc(n + 1, sizeof *state->component);
    state->tied = calloc(n + 1, sizeof *state->tied);
    state->anchors = calloc(n + 1, sizeof *state->anchors);
    state->sorted = calloc(n + 1, sizeof *state->sorted);
    state->votes = calloc(n + 1, sizeof *state->votes);
    state->parent = calloc(n + 1, sizeof *state->parent);
    state->step_bin = calloc(n + 1, sizeof *state->step_bin);
    state->first = calloc(n + 1, sizeof *state->first);
    state->last = calloc(n + 1, sizeof *state->last);
    state->listed = calloc(n + 1, sizeof *state->listed);
    state->list_first = calloc(n + 2, sizeof *state->list_first);
    state->list_of = calloc(n + 1, sizeof *state->list_of);
    return state->middle && state->rate && state->wall && state->sigma && state->steady &&
           state->strong && state->component && state->tied && state->anchors && state->sorted &&
           state->votes && state->parent && state->step_bin && state->first && state->last &&
           state->listed && state->list_first && state->list_of;
}

static bool take_memory(tm_fit_state *state) {
    size_t n = (size_t)state->n_domains, classes = (size_t)state->n_classes;
    size_t by_domain = larger(2 * TM_FIT_BINS, 2 * (size_t)TM_CLOCK_STRATA + 1);
    state->n_counts = larger(larger(classes, 1) * TM_SPREAD_BINS, n * by_domain + 8);
    state->rows = calloc(state->input->n_ends + 1, sizeof *state->rows);
    state->events = calloc(state->input->n_ends + 1, sizeof *state->events);
    state->noise = calloc(classes + 1, sizeof *state->noise);
    state->n_of_class = calloc(classes + 1, sizeof *state->n_of_class);
    state->counts = calloc(state->n_counts, sizeof *state->counts);
    return state->rows && state->events && state->noise && state->n_of_class && state->counts &&
           take_domains(state, n) &&
           (!state->dense || tm_normal_create(&state->normal, state->n_domains)) &&
           tm_median_search_create(&state->select, 2 * n);
}

static bool near(int64_t time, int64_t middle) {
    return time > middle - FARTHEST_NS && time < middle + FARTHEST_NS;
}

/* Copies a row, with 0 in place of the times that the row's roles do not use. Returns false if one
 * of the other times is implausible. */
static bool copy_row(const tm_clock_input *input, size_t i, tm_fit_row *out) {
    const tm_clock_end *end = input->ends + i;
    assert(end->domain >= 0 && end->domain < input->n_domains && end->n_ranks > 0);
    assert(end->noise_class < input->n_classes && end->stratum < TM_CLOCK_STRATA);
    int64_t middle = input->domains[end->domain].middle_ns;
    bool gives = end->flags & TM_CLOCK_GIVES, takes = end->flags & TM_CLOCK_TAKES;
    bool anchor = end->flags & TM_CLOCK_ANCHOR;
    if ((gives && !near(end->begin_max_ns, middle)) || (takes && !near(end->end_min_ns, middle)) ||
        (anchor && !near(end->end_ns, middle)))
        return false;
    *out = (tm_fit_row){.begin = gives ? (double)(end->begin_max_ns - middle) : 0.0,
                        .end_min = takes ? (double)(end->end_min_ns - middle) : 0.0,
                        .end = anchor ? (double)(end->end_ns - middle) : 0.0,
                        .root = sqrt((double)end->n_ranks),
                        .input = i,
                        .domain = end->domain,
                        .n_ranks = end->n_ranks,
                        .noise_class = end->noise_class,
                        .flags = end->flags,
                        .stratum = end->stratum};
    return true;
}

static void copy_rows(tm_fit_state *state) {
    const tm_clock_input *input = state->input;
    for (size_t i = 0; i < input->n_ends; i++) {
        bool begins = i == 0 || input->ends[i].event != input->ends[i - 1].event;
        assert(begins || input->ends[i].domain > input->ends[i - 1].domain);
        if (begins)
            state->events[state->n_events++] = (tm_fit_event){.first = state->n_rows};
        tm_fit_event *event = &state->events[state->n_events - 1];
        if (!copy_row(input, i, &state->rows[state->n_rows]))
            continue;
        event->n_anchors += (state->rows[state->n_rows].flags & TM_CLOCK_ANCHOR) != 0;
        event->n++;
        state->n_rows++;
    }
}

/* Chooses the lead domain. True times count from the middle of the lead domain's window. Then
 * places the window of each domain by its wall clock. */
static void place_windows(tm_fit_state *state) {
    const tm_clock_domain *domains = state->input->domains;
    while (state->lead < state->n_domains && !isfinite(domains[state->lead].wall_ns))
        state->lead++;
    state->lead = state->lead < state->n_domains ? state->lead : 0;
    for (int32_t h = 0; h < state->n_domains; h++) {
        int64_t from_lead = domains[h].middle_ns - domains[state->lead].middle_ns;
        bool known = near(from_lead, 0);
        state->wall[h] = known ? (double)from_lead : 0.0;
        state->sigma[h] = known && isfinite(domains[h].wall_ns) ? domains[h].wall_ns : HUGE_VAL;
        state->middle[h] = state->wall[h];
        state->component[h] = state->strong[h] = h;
    }
}

/* Counts the anchors of each class. Also finds the largest distance of an anchor from the middle of
 * its window. This distance bounds the sums over events. */
static tm_status count_anchors(tm_fit_state *state, tm_error *err) {
    int64_t farthest = 1;
    for (size_t k = 0; k < state->n_events; k++) {
        const tm_fit_event *event = state->events + k;
        for (size_t i = 0; i < event->n && event->n_anchors > 1; i++) {
            const tm_fit_row *row = state->rows + event->first + i;
            if (!(row->flags & TM_CLOCK_ANCHOR))
                continue;
            int64_t distance = (int64_t)fabs(row->end);
            farthest = distance > farthest ? distance : farthest;
            state->n_of_class[row->noise_class] += (int64_t)ceil(row->root);
        }
    }
    TM_TRY(tm_fit_max(state, &farthest, 1, err));
    state->reach = (double)farthest;
    return tm_fit_sum(state, state->n_of_class, (size_t)state->n_classes, err);
}

static tm_status agree(const tm_clock_reducer *reducer, bool ok, tm_error *err) {
    int64_t failed = !ok;
    TM_TRY(reducer->max(reducer->context, &failed, 1, err));
    if (!ok)
        return tm_fail_memory(err);
    return failed ? tm_fail(err, TM_ERR_FAULT, NULL, -1, "another process is out of memory")
                  : TM_OK;
}

tm_status tm_fit_agree(tm_fit_state *state, bool ok, tm_error *err) {
    return agree(state->reducer, ok, err);
}

tm_status tm_fit_state_create(const tm_clock_input *input, const tm_clock_reducer *reducer,
                              bool ready, tm_fit_state **out, tm_error *err) {
    tm_fit_state *state = calloc(1, sizeof *state);
    int32_t dense_most = input->dense_most > 0 ? input->dense_most : DENSE_MOST;
    if (state) {
        *state = (tm_fit_state){.input = input,
                                .reducer = reducer,
                                .n_domains = input->n_domains,
                                .n_classes = input->n_classes,
                                .dense = input->n_domains <= dense_most};
        tm_network_init(&state->network);
        state->pairs.keys.size = 2 * sizeof(int32_t);
        state->pair_counts = TM_VEC(int64_t);
    }
    tm_status status = agree(reducer, ready && state && take_memory(state), err);
    if (status == TM_OK) {
        copy_rows(state);
        place_windows(state);
        status = count_anchors(state, err);
    }
    if (status != TM_OK) {
        tm_fit_state_destroy(state);
        return status;
    }
    *out = state;
    return TM_OK;
}

size_t tm_fit_gather(tm_fit_state *state, const tm_fit_event *event, double *middle) {
    size_t n = 0, place = 0;
    if (event->n_anchors < 2)
        return 0;
    for (size_t i = event->first; i < event->first + event->n; i++) {
        const tm_fit_row *row = state->rows + i;
        if (!(row->flags & TM_CLOCK_ANCHOR))
            continue;
        place++;
        if (row->compressed)
            continue;
        double y = tm_fit_true(state, row->domain, row->end);
        state->anchors[n] = (tm_anchor){.row = i,
                                        .place = place - 1,
                                        .domain = row->domain,
                                        .x = row->end / state->reach,
                                        .y = y};
        state->sorted[n++] = y;
    }
    if (n > 1)
        *middle = tm_median_real(state->sorted, n);
    return n;
}
