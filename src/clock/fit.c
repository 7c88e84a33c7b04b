#include "fit.h"

#include <stdlib.h>

#include "clock/work.h"

/* Fits, marks what contradicts, and where there is such fits once more without it. */
static tm_status estimate(tm_work *work, tm_clock_fit *out, tm_error *err) {
    TM_TRY(tm_work_link(work, err));
    tm_work_gauge(work, work->strong);
    for (int i = 0; i < 2; i++) {
        TM_TRY(tm_work_iterate(work, &out->n_iterations, err));
        tm_work_gauge(work, work->strong);
        TM_TRY(tm_work_tie(work, err));
        if (i == 0)
            TM_TRY(tm_work_suspect(work, &out->n_suspect, err));
        if (out->n_suspect == 0)
            break;
    }
    tm_work_gauge(work, work->component);
    return TM_OK;
}

/* Where the offset is not known from the wall clock or a fit it is 0. */
static void write_models(const tm_work *work, tm_clock_fit *out) {
    int64_t lead = work->input->domains[work->lead].middle_ns;
    for (int32_t h = 0; h < work->n_domains; h++) {
        tm_clock_model *model = out->models + h;
        model->middle_ns = work->input->domains[h].middle_ns;
        if (model->method != TM_CLOCK_NONE)
            model->offset_ns = lead - model->middle_ns + llrint(work->middle[h]);
        model->drift_ppb = work->rate[h] * 1e9;
        model->low_ns += model->bounded ? model->offset_ns : 0;
        model->high_ns += model->bounded ? model->offset_ns : 0;
        model->component = work->component[h] == h ? out->n_components++
                                                   : out->models[work->component[h]].component;
    }
    for (int32_t class = 0; class < work->n_classes; class ++)
        if (work->n_of_class[class] > 0)
            out->noise_ns[class] = tm_work_noise(work, (uint16_t) class);
    for (size_t k = 0; k < work->n_events; k++)
        for (size_t i = 0; i < work->events[k].n; i++)
            out->suspect[work->rows[work->events[k].first + i].input] = work->events[k].suspect;
}

static tm_status fit_all(tm_work *work, tm_clock_fit *out, tm_error *err) {
    if (work->n_domains == 0)
        return TM_OK;
    TM_TRY(estimate(work, out, err));
    TM_TRY(tm_work_uncertain(work, out->models, err));
    TM_TRY(tm_work_project(work, out->models, &out->projected, err));
    TM_TRY(tm_work_check(work, &out->check, err));
    TM_TRY(tm_work_bound(work, out->models, err));
    TM_TRY(tm_work_steps(work, out->models, err));
    write_models(work, out);
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
    tm_work *work = NULL;
    bool taken = take_results(input, &fit);
    tm_status status = tm_work_create(input, reducer, taken, &work, err);
    if (status == TM_OK)
        status = fit_all(work, &fit, err);
    tm_work_destroy(work);
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
