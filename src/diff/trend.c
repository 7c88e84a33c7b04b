/* diff.trend: figures of several jobs, each change held against what steps vary by anyhow. */
#include "tmerge/trend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "level.h"
#include "parts.h"
#include "tmerge/gate.h"

enum { FIGURES_MAX = 16 };

enum {
    T_FIGURE,
    T_PLACE,
    T_STORE,
    T_UNIT,
    T_VALUE,
    T_STEPS,
    T_CHANGE,
    T_NOISE,
    T_VERDICT,
    T_FIRST_CHANGE,
    T_FIRST_NOISE,
    T_FIRST_VERDICT,
    N_T
};

static const tm_column columns[N_T] = {
    {"figure", TM_TEXT, "", "ANALYSIS.TABLE.COLUMN, where it is defined."},
    {"place", TM_INT, "", "Place of the job among those given, from 1."},
    {"store", TM_TEXT, "", "Its store, as given."},
    {"unit", TM_TEXT, "", "Unit of value."},
    {"value", TM_REAL, "",
     "The mean over steps of the mean over ranks, as in diff.gate, under 5 steps of all of them; "
     "of "
     "a peak the largest of a GPU. Null where it was not recorded."},
    {"steps", TM_INT, "", "Whole steps; null for what is not of steps."},
    {"change_pct", TM_REAL, "%", "Against the job before."},
    {"noise_pct", TM_REAL, "%",
     "How far change_pct may be off by chance, as in diff.gate; null for what is not of steps, or "
     "of under 5."},
    {"verdict", TM_TEXT, "",
     "higher or lower: the change is beyond noise_pct (without steps: 2 % or more); unclear: it is "
     "not; same: there is none; too few steps: one of the two has under 5; other ranks: the two "
     "have different numbers of ranks; null where one of them is not known."},
    {"first_change_pct", TM_REAL, "%", "Against the first job."},
    {"first_noise_pct", TM_REAL, "%", "As noise_pct."},
    {"first_verdict", TM_TEXT, "", "As verdict."},
};

const tm_table_def tm_trend_def = {
    .name = "diff.trend",
    .doc = "A row for each figure and job of tmerge trend.",
    .columns = columns,
    .n_columns = N_T,
    .n_keys = 2,
    .top = -1,
};

typedef struct job {
    char *store; /* owned */
    int64_t ranks;
    tm_level levels[FIGURES_MAX];
    tm_level_figure figures[FIGURES_MAX];
} job;

struct tm_trend {
    tm_vec jobs; /* of job */
};

tm_trend *tm_trend_create(void) {
    tm_trend *trend = calloc(1, sizeof *trend);
    if (trend)
        trend->jobs = TM_VEC(job);
    return trend;
}

void tm_trend_destroy(tm_trend *trend) {
    if (!trend)
        return;
    for (size_t i = 0; i < trend->jobs.n; i++)
        free(((job *)trend->jobs.data)[i].store);
    tm_vec_free(&trend->jobs);
    free(trend);
}

static int n_figures(void) {
    return tm_level_figures() < FIGURES_MAX ? tm_level_figures() : FIGURES_MAX;
}

tm_status tm_trend_add(tm_trend *trend, const char *store, const tm_tables *tables, tm_error *err) {
    job *added = tm_vec_push(&trend->jobs);
    if (!added)
        return tm_fail_memory(err);
    *added = (job){.store = strdup(store), .ranks = tm_level_ranks(tables)};
    if (!added->store)
        return tm_fail_memory(err);
    for (int f = 0; f < n_figures(); f++) {
        added->figures[f] = tm_level_figure_of(tables, f);
        TM_TRY(tm_level_measure(tables, f, &added->levels[f], err));
    }
    return TM_OK;
}

static bool is_measured(const job *of, int f) {
    return of->levels[f].n >= (of->figures[f].of_steps ? TM_GATE_STEPS_MIN : 1);
}

static const char *judge(const job *a, const job *b, int f, double change, double noise) {
    bool of_steps = a->figures[f].of_steps;
    if (a->levels[f].n == 0 || b->levels[f].n == 0)
        return NULL;
    if (a->ranks != b->ranks)
        return "other ranks";
    if (!is_measured(a, f) || !is_measured(b, f))
        return TM_DIFF_FEW;
    if (a->levels[f].mean == b->levels[f].mean)
        return TM_DIFF_SAME;
    if (!isfinite(change) ||
        (of_steps ? !(fabs(change) > noise) : fabs(change) < TM_DIFF_LEAST_PCT))
        return TM_DIFF_UNCLEAR;
    return change > 0.0 ? "higher" : "lower";
}

/* Sets change, noise and verdict. */
static tm_status compare(const job *a, const job *b, int f, tm_table *out, tm_cell *cells) {
    double change = (double)NAN, noise = (double)NAN;
    bool of_steps = a->figures[f].of_steps;
    if (a->levels[f].n > 0 && b->levels[f].n > 0 && a->ranks == b->ranks)
        change = tm_diff_pct(a->levels[f].mean, b->levels[f].mean);
    if (isfinite(change) && of_steps)
        noise = tm_level_noise(&a->levels[f], &b->levels[f]);
    tm_cell_set_real(&cells[0], change);
    tm_cell_set_real(&cells[1], noise);
    return tm_table_set_text(out, &cells[2], judge(a, b, f, change, noise), NULL);
}

static tm_status tell(const tm_trend *trend, int f, size_t i, tm_table *out) {
    char name[96];
    const job *jobs = trend->jobs.data;
    const tm_level_figure *figure = &jobs[i].figures[f];
    tm_cell *row = tm_table_add_row(out);
    if (!row)
        return TM_ERR_FAULT;
    snprintf(name, sizeof name, "%s.%s", figure->where, figure->column->name);
    tm_cell_set_int(&row[T_PLACE], (int64_t)i + 1);
    if (jobs[i].levels[f].n > 0)
        tm_cell_set_real(&row[T_VALUE], jobs[i].levels[f].mean);
    if (figure->of_steps)
        tm_cell_set_int(&row[T_STEPS], (int64_t)jobs[i].levels[f].n);
    TM_TRY(tm_table_set_text(out, &row[T_FIGURE], name, NULL));
    TM_TRY(tm_table_set_text(out, &row[T_STORE], jobs[i].store, NULL));
    TM_TRY(tm_table_set_text(out, &row[T_UNIT], figure->column->unit, NULL));
    if (i > 0)
        TM_TRY(compare(&jobs[i - 1], &jobs[i], f, out, &row[T_CHANGE]));
    return i > 0 ? compare(&jobs[0], &jobs[i], f, out, &row[T_FIRST_CHANGE]) : TM_OK;
}

tm_status tm_trend_tell(const tm_trend *trend, tm_table *out, tm_error *err) {
    const job *jobs = trend->jobs.data;
    for (int f = 0; f < n_figures(); f++) {
        bool any = false;
        for (size_t i = 0; i < trend->jobs.n; i++)
            any = any || jobs[i].levels[f].n > 0;
        for (size_t i = 0; i < trend->jobs.n && any; i++)
            if (tell(trend, f, i, out) != TM_OK)
                return tm_fail_memory(err);
    }
    return TM_OK;
}
