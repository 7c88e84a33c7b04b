#include "fit.h"

#include <stdlib.h>

#include "fit_state.h"

/* Fits the clocks and marks events that contradict the fit. If there are any, fits again without
 * them. */
static tm_status estimate(tm_fit_state *state, tm_clock_fit *out, tm_error *err) {
    int64_t n_compressed = 0;
    TM_TRY(tm_fit_link(state, err));
    TM_TRY(tm_fit_lay_out(state, TM_NETWORK_SOLVE, err));
    tm_fit_gauge(state, state->strong);
    for (int i = 0; i < 2; i++) {
        TM_TRY(tm_fit_compress(state, &n_compressed, err));
        TM_TRY(tm_fit_iterate(state, &out->n_iterations, err));
        tm_fit_gauge(state, state->strong);
        TM_TRY(tm_fit_tie(state, err));
        tm_fit_take_back(state);
        if (i == 0)
            TM_TRY(tm_fit_suspect(state, &out->n_suspect, err));
        if (out->n_suspect == 0 && n_compressed == 0)
            break;
    }
    tm_fit_gauge(state, state->component);
    return TM_OK;
}

/* A clock that neither a wall clock nor the fit determines gets the offset 0. */
static void write_models(const tm_fit_state *state, tm_clock_fit *out) {
    int64_t lead = state->input->domains[state->lead].middle_ns;
    for (int32_t h = 0; h < state->n_domains; h++) {
        tm_clock_model *model = out->models + h;
        model->middle_ns = state->input->domains[h].middle_ns;
        if (model->method != TM_CLOCK_NONE)
            model->offset_ns = lead - model->middle_ns + llrint(state->middle[h]);
        model->drift_ppb = state->rate[h] * 1e9;
        model->low_ns += model->bounded ? model->offset_ns : 0;
        model->high_ns += model->bounded ? model->offset_ns : 0;
        model->component = state->component[h] == h ? out->n_components++
                                                    : out->models[state->component[h]].component;
    }
    for (int32_t class = 0; class < state->n_classes; class ++)
        if (state->n_of_class[class] > 0)
            out->noise_ns[class] = tm_fit_noise(state, (uint16_t) class);
    for (size_t k = 0; k < state->n_events; k++)
        for (size_t i = 0; i < state->events[k].n; i++)
            out->suspect[state->rows[state->events[k].first + i].input] = state->events[k].suspect;
}

static tm_status fit_all(tm_fit_state *state, tm_clock_fit *out, tm_error *err) {
    if (state->n_domains == 0)
        return TM_OK;
    TM_TRY(estimate(state, out, err));
    TM_TRY(tm_fit_uncertain(state, out->models, err));
    TM_TRY(tm_fit_project(state, out->models, &out->projected, err));
    TM_TRY(tm_fit_check(state, &out->check, err));
    TM_TRY(tm_fit_bound(state, out->models, err));
    TM_TRY(tm_fit_steps(state, out->models, err));
    write_models(state, out);
    return TM_OK;
}

static bool take_results(const tm_clock_input *input, tm_clock_fit *fit) {
    fit->n_domains = input->n_domains;
    fit->models = calloc((size_t)input->n_domains + 1, sizeof *fit->models);
    fit->noise_ns = calloc((size_t)input->n_classes + 1, sizeof *fit->noise_ns);
    fit->suspect = calloc(input->n_ends + 1, sizeof *fit->suspect);
    return fit->models && fit->noise_ns && fit->suspect;
}

tm_status tm_clock_fit_all(const tm_clock_input *input, const tm_clock_reducer *reducer,
                           tm_clock_fit *out, tm_error *err) {
    tm_clock_fit fit = {0};
    tm_fit_state *state = NULL;
    bool taken = take_results(input, &fit);
    tm_status status = tm_fit_state_create(input, reducer, taken, &state, err);
    if (status == TM_OK)
        status = fit_all(state, &fit, err);
    tm_fit_state_destroy(state);
    if (status != TM_OK) {
        tm_clock_fit_free(&fit);
        return status;
    }
    *out = fit;
    return TM_OK;
}

void tm_clock_fit_free(tm_clock_fit *fit) {
    free(fit->models);
    free(fit->noise_ns);
    free(fit->suspect);
    *fit = (tm_clock_fit){0};
}
