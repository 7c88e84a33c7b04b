/* diff.trend: figures of several jobs in order. Compares each change with the variation of steps.
 */
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
    T_KIND,
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
    T_MEAN,
    T_OVER,
    T_FIRST_OVER
};

static const tm_column columns[] = {
    {"figure", TM_TEXT, "",
     "Name of the figure: ANALYSIS.TABLE.COLUMN of the column that defines it."},
    {"kind", TM_TEXT, "",
     "Kind of the steps (steps.kind), if a job has several kinds; otherwise null."},
    {"place", TM_INT, "", "Number of the job in the order in which jobs were given, from 1."},
    {"store", TM_TEXT, "", "Path of the job's store, as given."},
    {"unit", TM_TEXT, "", "Unit of the column value."},
    {"value", TM_REAL, "",
     "Value of the figure in this job. Figures by step: mean over ranks in each step, then trimmed "
     "mean over steps as in diff.gate (under 5 steps: plain mean). Peaks: the largest of any GPU. "
     "Null if not recorded."},
    {"steps", TM_INT, "", "Number of whole steps; null for figures that are not by step."},
    {"change_pct", TM_REAL, "%",
     "Change of the value relative to the previous job. Null if a value is unknown, or if the jobs "
     "have different numbers of ranks."},
    {"noise_pct", TM_REAL, "%",
     "How far change_pct may be off by chance, as in diff.gate. Null for figures that are not by "
     "step, or with under 5 steps."},
    {"verdict", TM_TEXT, "",
     "Verdict on the change from the previous job. higher or lower: the change exceeds noise_pct; "
     "for figures that are not by step, the change is at least 2 %. unclear: the change is "
     "smaller. same: no change. too few steps: one of the two jobs has under 5 steps. other ranks: "
     "the two jobs have different numbers of ranks. Null if a value is unknown."},
    {"first_change_pct", TM_REAL, "%",
     "Change of the value relative to the first job. Null for the same reasons as change_pct."},
    {"first_noise_pct", TM_REAL, "%",
     "How far first_change_pct may be off by chance, as in diff.gate. Null for figures that are "
     "not by step, or with under 5 steps."},
    {"first_verdict", TM_TEXT, "",
     "Verdict on the change from the first job, in the words of the column verdict."},
    {"mean", TM_REAL, "",
     "Mean of the figure over all steps but the first, in whole periods if steps are periodic (see "
     "diff.gate.over_steps). Null for figures that are not by step, or with under 5 steps."},
    {"over_steps", TM_TEXT, "",
     "Which values change_pct and verdict compare: trimmed mean (the column value), or mean or "
     "mean "
     "of periods (the column mean), as in diff.gate; the mean must give another verdict than the "
     "trimmed mean. Null if noise_pct is."},
    {"first_over_steps", TM_TEXT, "",
     "Which values first_change_pct and first_verdict compare, in the words of over_steps."},
};

const tm_table_def tm_trend_def = {
    .name = "diff.trend",
    .doc = "A row for each figure, kind of steps and job of tmerge trend.",
    TM_ARRAY(columns, columns),
    .n_keys = 3,
    .top = -1,
};

/* The figures of a job. Figures that are by step are measured over the steps of one kind. */
typedef struct measured {
    char *kind; /* owned; NULL: unknown */
    tm_level levels[FIGURES_MAX];
} measured;

typedef struct job {
    char *store; /* owned */
    int64_t ranks;
    measured kinds[TM_STEP_KINDS_MAX]; /* [n_kinds >= 1] */
    int n_kinds;
    tm_level_figure figures[FIGURES_MAX];
} job;

struct tm_trend {
    tm_vec jobs; /* vector of job */
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
    for (size_t i = 0; i < trend->jobs.n; i++) {
        job *own = (job *)trend->jobs.data + i;
        free(own->store);
        for (int k = 0; k < own->n_kinds; k++)
            free(own->kinds[k].kind);
    }
    tm_vec_free(&trend->jobs);
    free(trend);
}

static int n_figures(void) {
    return tm_level_figures() < FIGURES_MAX ? tm_level_figures() : FIGURES_MAX;
}

/* Measures the figures over the steps of a kind; if the job has at most one kind, over all steps.
 */
static tm_status measure_kind(const tm_tables *tables, const tm_step_kinds *kinds, int kind,
                              job *out, tm_error *err) {
    measured *own = &out->kinds[kind];
    tm_sample_ranks of = {.kinds = kinds->n > 1 ? kinds : NULL, .kind = kind};
    *own = (measured){.kind = kinds->n > 0 ? strdup(kinds->names[kind]) : NULL};
    out->n_kinds = kind + 1;
    if (kinds->n > 0 && !own->kind)
        return tm_fail_memory(err);
    for (int f = 0; f < n_figures(); f++)
        TM_TRY(tm_level_measure(tables, f, of, &own->levels[f], err));
    return TM_OK;
}

tm_status tm_trend_add(tm_trend *trend, const char *store, const tm_tables *tables, tm_error *err) {
    const tm_step_kinds kinds = tm_step_kinds_find(tables);
    job *added = tm_vec_push(&trend->jobs);
    if (!added)
        return tm_fail_memory(err);
    *added = (job){.store = strdup(store), .ranks = tm_level_ranks(tables)};
    if (!added->store)
        return tm_fail_memory(err);
    for (int f = 0; f < n_figures(); f++)
        added->figures[f] = tm_level_figure_of(tables, f);
    for (int k = 0; k == 0 || k < kinds.n; k++)
        TM_TRY(measure_kind(tables, &kinds, k, added, err));
    return TM_OK;
}

/* Returns a figure of a job over the steps of a kind; if @p kind is NULL, over all steps. */
static const tm_level *level_of(const job *of, int f, const char *kind) {
    static const tm_level none = {0};
    if (!kind)
        return &of->kinds[0].levels[f];
    for (int k = 0; k < of->n_kinds; k++)
        if (of->kinds[k].kind && strcmp(of->kinds[k].kind, kind) == 0)
            return &of->kinds[k].levels[f];
    return &none;
}

/* The subject of a row: a figure, measured over the steps of a kind. */
typedef struct row_of {
    int f;
    const char *kind; /* NULL: all steps */
} row_of;

static bool is_measured(const job *of, row_of r) {
    return level_of(of, r.f, r.kind)->n >= (of->figures[r.f].of_steps ? TM_GATE_STEPS_MIN : 1);
}

static const char *judge(const job *a, const job *b, row_of r, const tm_level_change *c) {
    const tm_level *from = level_of(a, r.f, r.kind), *to = level_of(b, r.f, r.kind);
    bool of_steps = a->figures[r.f].of_steps;
    if (from->n == 0 || to->n == 0)
        return NULL;
    if (a->ranks != b->ranks)
        return "other ranks";
    if (!is_measured(a, r) || !is_measured(b, r))
        return TM_DIFF_FEW;
    const tm_shift *shift = tm_level_shift(c);
    if (shift->of[0].mean == shift->of[1].mean)
        return TM_DIFF_SAME;
    if (!isfinite(shift->pct) || c->basis == TM_BASIS_MISSED ||
        (of_steps ? !(fabs(shift->pct) > shift->noise) : fabs(shift->pct) < TM_DIFF_LEAST_PCT))
        return TM_DIFF_UNCLEAR;
    return shift->pct > 0.0 ? "higher" : "lower";
}

/* Sets the cells of change, noise and verdict, and the one of over_steps. */
static tm_status compare(const job *a, const job *b, row_of r, tm_table *out, tm_cell *cells,
                         tm_cell *over_steps) {
    const tm_level *from = level_of(a, r.f, r.kind), *to = level_of(b, r.f, r.kind);
    tm_level_change c = {.usual = {.pct = (double)NAN, .noise = (double)NAN}};
    if (from->n > 0 && to->n > 0 && a->ranks == b->ranks)
        c = tm_level_compare(from, to);
    if (!isfinite(c.usual.pct) || !a->figures[r.f].of_steps)
        c.usual.noise = (double)NAN;
    tm_level_ignore_odd(&c, -c.usual.noise, c.usual.noise);
    tm_cell_set_real(&cells[0], tm_level_shift(&c)->pct);
    tm_cell_set_real(&cells[1], tm_level_shift(&c)->noise);
    TM_TRY(tm_table_set_text(out, over_steps, tm_level_over_steps(&c), NULL));
    return tm_table_set_text(out, &cells[2], judge(a, b, r, &c), NULL);
}

static tm_status tell(const tm_trend *trend, row_of r, size_t i, tm_table *out) {
    char name[96];
    const job *jobs = trend->jobs.data;
    const tm_level_figure *figure = &jobs[i].figures[r.f];
    const tm_level *level = level_of(&jobs[i], r.f, r.kind);
    tm_cell *row = tm_table_add_row(out);
    if (!row)
        return TM_ERR_FAULT;
    snprintf(name, sizeof name, "%s.%s", figure->where, figure->column->name);
    tm_cell_set_int(&row[T_PLACE], (int64_t)i + 1);
    if (level->n > 0)
        tm_cell_set_real(&row[T_VALUE], level->usual.mean);
    if (level->whole.n > 0)
        tm_cell_set_real(&row[T_MEAN], level->whole.all.mean);
    if (figure->of_steps)
        tm_cell_set_int(&row[T_STEPS], (int64_t)level->n);
    TM_TRY(tm_table_set_text(out, &row[T_FIGURE], name, NULL));
    TM_TRY(tm_table_set_text(out, &row[T_KIND], r.kind, NULL));
    TM_TRY(tm_table_set_text(out, &row[T_STORE], jobs[i].store, NULL));
    TM_TRY(tm_table_set_text(out, &row[T_UNIT], figure->column->unit, NULL));
    if (i == 0)
        return TM_OK;
    TM_TRY(compare(&jobs[i - 1], &jobs[i], r, out, &row[T_CHANGE], &row[T_OVER]));
    return compare(&jobs[0], &jobs[i], r, out, &row[T_FIRST_CHANGE], &row[T_FIRST_OVER]);
}

static tm_status tell_figure(const tm_trend *trend, row_of r, tm_table *out, tm_error *err) {
    const job *jobs = trend->jobs.data;
    bool any = false;
    for (size_t i = 0; i < trend->jobs.n; i++)
        any = any || level_of(&jobs[i], r.f, r.kind)->n > 0;
    for (size_t i = 0; i < trend->jobs.n && any; i++)
        if (tell(trend, r, i, out) != TM_OK)
            return tm_fail_memory(err);
    return TM_OK;
}

/* Returns the next kind of any job, in alphabetical order; NULL after the last. */
static const char *next_kind(const tm_trend *trend, const char *last) {
    const job *jobs = trend->jobs.data;
    const char *next = NULL;
    for (size_t i = 0; i < trend->jobs.n; i++)
        for (int k = 0; k < jobs[i].n_kinds; k++) {
            const char *kind = jobs[i].kinds[k].kind;
            if (kind && (!last || strcmp(kind, last) > 0) && (!next || strcmp(kind, next) < 0))
                next = kind;
        }
    return next;
}

/* if a job has several kinds of steps, figures by step are compared for each kind */
tm_status tm_trend_tell(const tm_trend *trend, tm_table *out, tm_error *err) {
    const job *jobs = trend->jobs.data;
    bool several = false;
    for (size_t i = 0; i < trend->jobs.n; i++)
        several = several || jobs[i].n_kinds > 1;
    for (int f = 0; f < n_figures() && trend->jobs.n > 0; f++) {
        bool by_kind = several && jobs[0].figures[f].of_steps;
        if (!by_kind)
            TM_TRY(tell_figure(trend, (row_of){f, NULL}, out, err));
        for (const char *kind = NULL; by_kind && (kind = next_kind(trend, kind));)
            TM_TRY(tell_figure(trend, (row_of){f, kind}, out, err));
    }
    return TM_OK;
}
