/* diff.gate: whether figures of the steps have changed beyond their limits. */
#include "tmerge/gate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/doubt.h"
#include "base/median.h"
#include "level.h"
#include "parts.h"

enum {
    G_FIGURE,
    G_KIND,
    G_A,
    G_B,
    G_A_STEPS,
    G_B_STEPS,
    G_CHANGE,
    G_NOISE,
    G_LIMIT,
    G_VERDICT,
    G_WHY,
    G_OVER
};

static const tm_column columns[] = {
    {"figure", TM_TEXT, "",
     "Name of the figure: ANALYSIS.TABLE.COLUMN of the column that defines it."},
    {"kind", TM_TEXT, "",
     "Kind of the steps (steps.kind), if the jobs have several kinds; otherwise null. A kind has "
     "no row if it has under 5 steps in one of the two jobs, and under 5 % of the steps' time in "
     "both."},
    {"a", TM_REAL, "",
     "Value of the figure in the first job (before). Figures by step: mean over ranks in each "
     "whole step, then trimmed mean over steps, without the tenth (rounded up) with the smallest "
     "values and the tenth with the largest, or the mean (see over_steps). Peaks: the largest of "
     "any GPU. Null if not recorded, or with under 5 whole steps."},
    {"b", TM_REAL, "",
     "Value of the figure in the second job (after), computed in the same way as the column a."},
    {"a_steps", TM_INT, "",
     "Number of whole steps of the first job; null for figures that are not by step."},
    {"b_steps", TM_INT, "",
     "Number of whole steps of the second job; null for figures that are not by step."},
    {"change_pct", TM_REAL, "%",
     "Change of the figure relative to the first job: 100 (b - a) / a."},
    {"noise_pct", TM_REAL, "%",
     "How far change_pct may be off by chance, in percentage points. Two runs of the same job "
     "differ by more than noise_pct in 1 of 200 cases. It is Student's t times the standard error "
     "of the change, computed from the winsorized deviations of the steps. If the correlation r of "
     "neighbouring steps exceeds 2 / sqrt(steps), it is also multiplied by sqrt((1 + r) / (1 - "
     "r)). Null for figures that are not by step."},
    {"limit_pct", TM_REAL, "%",
     "Limit of the change: above 0, the allowed increase; below 0, the allowed decrease."},
    {"verdict", TM_TEXT, "",
     "Verdict on the change. fail: the change exceeds the limit. If noise_pct exceeds the limit, "
     "the change must exceed more: the lower of limit + 2 (noise - limit) and limit + noise. pass: "
     "neither the change nor noise_pct exceeds the limit. undecided: all other cases, and if the "
     "mean of periods changed otherwise but one job has fewer steps than a period of the other."},
    {"why", TM_TEXT, "", "Why the verdict is undecided. Null for other verdicts."},
    {"over_steps", TM_TEXT, "",
     "Which means a and b are. trimmed mean: see the column a. mean of periods: every p-th step "
     "and no other is longer (or shorter) than the rest, at least 3 times; such steps and the rest "
     "have the weights 1 / p and 1 - 1 / p, and separate standard errors. mean: the mean changed "
     "otherwise than the trimmed mean, by more than noise neither by the same difference nor by "
     "the same factor, and to another side of the limit; both jobs get the larger standard "
     "deviation of the two. Means are without the first step, and without steps that not all ranks "
     "have. Null for figures that are not by step."},
};

const tm_table_def tm_gate_def = {
    .name = "diff.gate",
    .doc = "A row for each figure with a limit; for figures by step, a row for each kind of steps.",
    TM_ARRAY(columns, columns),
    .n_keys = 2,
    .top = -1,
};

static const struct {
    const char *alias, *table, *column;
} names[] = {
    {"step", "overview.step", "step_ns"},
    {"compute", "overlap.step", "compute_ns"},
    {"comm", "overlap.step", "comm_ns"},
    {"exposed", "overlap.step", "exposed_comm_ns"},
    {"idle", "overlap.step", "idle_ns"},
    {"wait", "overlap.step", "wait_ns"},
    {"input", "input.step", "stall_ns"},
    {"utilization", "overview.step", "gpu_utilization_pct"},
    {"memory", "memory.device", "peak_bytes"},
    {"samples", "overview.job", "samples_per_s"},
    {"tokens", "overview.job", "tokens_per_s"},
};
enum { N_NAMES = sizeof names / sizeof *names };

static tm_status fail_limit(const char *text, tm_error *err) {
    char known[200] = "";
    for (size_t i = 0, used = 0; i < N_NAMES; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s",
                                 i == 0             ? ""
                                 : i == N_NAMES - 1 ? " or "
                                                    : ", ",
                                 names[i].alias);
    return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                   "'%s' is not a limit such as step=+2%%: give a figure (%s), = and the "
                   "percentage by which it may change",
                   text, known);
}

tm_status tm_gate_parse(const char *text, tm_gate_limit *out, tm_error *err) {
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : 0;
    tm_gate_limit limit = {.name = -1};
    for (int i = 0; i < N_NAMES && equals; i++)
        if (strlen(names[i].alias) == length && strncmp(names[i].alias, text, length) == 0)
            limit.name = i;
    char *end = NULL;
    if (limit.name >= 0)
        limit.pct = strtod(equals + 1, &end);
    bool number = end && end != equals + 1 && strcmp(end, "%") == 0 && isfinite(limit.pct);
    if (!number || (equals[1] != '+' && equals[1] != '-') || limit.pct == 0.0)
        return fail_limit(text, err);
    *out = limit;
    return TM_OK;
}

static tm_level mean_of_few(const tm_step_mean *steps, size_t n) {
    tm_level found = {.usual.error = (double)NAN, .n = n};
    for (size_t i = 0; i < n; i++)
        found.usual.mean += steps[i].mean / (double)n;
    return found;
}

/* Measures a figure over at least TM_GATE_STEPS_MIN steps. */
static tm_status measure_many(const tm_step_mean *steps, size_t n, tm_level *out, tm_error *err) {
    double *values = malloc(2 * n * sizeof *values);
    if (!values)
        return tm_fail_memory(err);
    double *sorted = values + n;
    for (size_t i = 0; i < n; i++)
        values[i] = sorted[i] = steps[i].mean;
    tm_sort_reals(sorted, n);
    *out = (tm_level){.usual = tm_estimate_trimmed(values, sorted, n), .n = n};
    tm_status status = tm_whole_measure(steps, n, &out->whole, err);
    free(values);
    return status;
}

static tm_status measure_steps(const tm_tables *tables, int name, tm_sample_ranks of, tm_level *out,
                               tm_error *err) {
    tm_vec steps = TM_VEC(tm_step_mean);
    tm_status status =
        tm_sample_steps(tables, names[name].table, names[name].column, of, &steps, err);
    if (status == TM_OK && steps.n >= TM_GATE_STEPS_MIN)
        status = measure_many(steps.data, steps.n, out, err);
    else if (status == TM_OK)
        *out = mean_of_few(steps.data, steps.n);
    tm_vec_free(&steps);
    return status;
}

/* Returns the number of samples or tokens in a step, from the store; 0 if unknown. */
static double held_by_step(const tm_tables *tables, int name) {
    const tm_table *job = tm_tables_find(tables, names[name].table);
    const char *given_column =
        strcmp(names[name].column, "samples_per_s") == 0 ? "samples_per_step" : "tokens_per_step";
    bool known = job->n_rows > 0 && !tm_table_cell(job, 0, names[name].column)->null;
    return known ? (double)tm_table_cell(job, 0, given_column)->value.i : 0.0;
}

static bool is_rate(int name) {
    return strcmp(names[name].table, "overview.job") == 0;
}

/* Measures a rate. Its relative error is the relative error of the step time. */
static tm_status measure_rate(const tm_tables *tables, int name, tm_sample_ranks of, tm_level *out,
                              tm_error *err) {
    double held = held_by_step(tables, name);
    if (!(held > 0.0))
        return TM_OK;
    TM_TRY(measure_steps(tables, 0, of, out, err)); /* figure 0 is the step time */
    tm_estimate_invert(&out->usual, held * 1e9);
    tm_estimate_invert(&out->whole.all, held * 1e9);
    return TM_OK;
}

static bool is_of_steps(const tm_tables *tables, int name) {
    return is_rate(name) ||
           tm_table_column(tm_tables_find(tables, names[name].table)->def, "step") >= 0;
}

tm_status tm_level_measure(const tm_tables *tables, int name, tm_sample_ranks of, tm_level *out,
                           tm_error *err) {
    const tm_table *table = tm_tables_find(tables, names[name].table);
    *out = (tm_level){0};
    if (is_rate(name))
        return measure_rate(tables, name, of, out, err);
    if (is_of_steps(tables, name))
        return measure_steps(tables, name, of, out, err);
    tm_sample whole = tm_diff_largest(table, names[name].column, true);
    *out = (tm_level){.usual = {.mean = whole.middle, .error = (double)NAN}, .n = whole.n};
    return TM_OK;
}

int tm_level_figures(void) {
    return N_NAMES;
}

tm_level_figure tm_level_figure_of(const tm_tables *tables, int name) {
    const tm_table_def *def = tm_tables_find(tables, names[name].table)->def;
    const tm_column *column = tm_column_of(def, names[name].column);
    return (tm_level_figure){names[name].alias, def->name, column, is_of_steps(tables, name)};
}

/* Returns by how much the change from a to b may be off by chance [% of a]. */
static double relative_noise(const tm_estimate *a, const tm_estimate *b) {
    tm_estimate scaled = *a;
    scaled.error *= b->mean / a->mean;
    return 100.0 * tm_estimate_noise(&scaled, b) / a->mean;
}

static void set_shift(tm_shift *shift) {
    const tm_estimate *a = &shift->of[0], *b = &shift->of[1];
    shift->pct = tm_diff_pct(a->mean, b->mean);
    shift->noise = relative_noise(a, b);
}

tm_level_change tm_level_compare(const tm_level *a, const tm_level *b) {
    tm_level_change out = {.usual.of = {a->usual, b->usual}};
    const double usual[2] = {a->usual.mean, b->usual.mean};
    out.basis =
        tm_whole_decides(&a->whole, &b->whole, usual, tm_estimate_noise(&a->usual, &b->usual));
    set_shift(&out.usual);
    tm_whole_pair(&a->whole, &b->whole, out.whole.of);
    set_shift(&out.whole);
    return out;
}

void tm_level_ignore_odd(tm_level_change *change, double low, double high) {
    if (change->basis == TM_BASIS_ODD &&
        tm_whole_agrees(change->usual.pct, change->whole.pct, low, high))
        change->basis = TM_BASIS_USUAL;
}

const char *tm_level_over_steps(const tm_level_change *change) {
    return isnan(change->usual.noise) ? NULL : tm_whole_word(change->basis, "trimmed mean");
}

int64_t tm_level_ranks(const tm_tables *tables) {
    const tm_table *job = tm_tables_find(tables, "job.job");
    return job->n_rows > 0 ? tm_table_cell(job, 0, "ranks")->value.i : 0;
}

bool tm_gate_is_marked(const tm_tables *tables) {
    const tm_table *job = tm_tables_find(tables, "job.job");
    const tm_cell *steps = job->n_rows > 0 ? tm_table_cell(job, 0, "steps") : NULL;
    return !steps || steps->null || steps->value.i > 0;
}

typedef struct gate {
    tm_gate_limit limit;
    const char *kind; /* NULL: all steps */
    tm_level a, b;
    int64_t ranks[2];
    bool marked[2], of_steps;
    bool doubted[2]; /* whether times on devices may be wrong by more than 5 % */
    bool judged;     /* whether `change` is known */
    tm_level_change change;
} gate;

/* Returns the number of steps that each side would need for noise to be as low as the limit. */
static double steps_needed(const gate *g) {
    double n = (double)(g->a.n < g->b.n ? g->a.n : g->b.n);
    return ceil(n * pow(tm_level_shift(&g->change)->noise / fabs(g->limit.pct), 2.0) - 1e-6);
}

/* Returns whether no decision is possible. If so, writes the reason to @p why. */
static bool lacks_data(const gate *g, char *why, size_t size) {
    if (g->ranks[0] != g->ranks[1])
        snprintf(why, size, "%" PRId64 " ranks before, %" PRId64 " after: not the same job",
                 g->ranks[0], g->ranks[1]);
    else if (g->a.n == 0 || g->b.n == 0)
        snprintf(why, size, "it was not recorded %s",
                 g->a.n > 0   ? "after"
                 : g->b.n > 0 ? "before"
                              : "in either");
    else if (g->of_steps && (!g->marked[0] || !g->marked[1]))
        snprintf(
            why, size,
            "no steps are marked in the traces of %s; each side needs at least %d marked steps",
            g->marked[1]   ? "before"
            : g->marked[0] ? "after"
                           : "both sides",
            TM_GATE_STEPS_MIN);
    else if (g->of_steps && (g->a.n < TM_GATE_STEPS_MIN || g->b.n < TM_GATE_STEPS_MIN))
        snprintf(why, size,
                 "there are %zu whole steps before and %zu after: each side needs at least %d",
                 g->a.n, g->b.n, TM_GATE_STEPS_MIN);
    else if (g->doubted[0] || g->doubted[1])
        snprintf(why, size, "the value %s could be off by more than 5 %% (show job.integrity)",
                 g->doubted[0] && g->doubted[1] ? "on both sides"
                 : g->doubted[0]                ? "before"
                                                : "after");
    else if (!(g->a.usual.mean > 0.0))
        snprintf(why, size, "it was 0 before, so a change in percent has no meaning");
    else
        return false;
    return true;
}

/* Returns the change [%] above which the gate fails. If noise is within the limit, this is the
 * limit. The more noise exceeds the limit, the larger the change must be, up to limit + noise. To
 * check this, the same job was simulated twice, with 200,000 pairs for each setting. With 5 to 20
 * steps and 1 to 5 % normal noise, at most 0.12 % of the pairs fail a limit of 2 %. With 8 steps
 * and 3 % noise, 0.04 % fail. */
static double needed(const gate *g) {
    double most = fabs(g->limit.pct);
    const double noise = tm_level_shift(&g->change)->noise;
    return noise > most ? most + fmin(2.0 * (noise - most), noise) : most;
}

/* Writes why chance may explain the change, or hide one. */
static void say_chance(const gate *g, char *why, size_t size) {
    const tm_level_change *c = &g->change;
    const tm_level *periodic = g->a.whole.period > 0 ? &g->a : &g->b;
    if (c->basis == TM_BASIS_MISSED)
        snprintf(why, size, "1 in %zu steps %s is unlike the others; %s has too few steps for one",
                 periodic->whole.period, periodic == &g->a ? "before" : "after",
                 periodic == &g->a ? "after" : "before");
    else if (c->basis == TM_BASIS_ODD)
        snprintf(why, size,
                 "the usual step changed by %+.2f %%, but odd steps change the mean of all steps; "
                 "that may be chance",
                 c->usual.pct);
    else
        snprintf(why, size,
                 "chance may change it by %.1f %%: about %.0f steps on each side would distinguish "
                 "%.3g %% from chance",
                 tm_level_shift(c)->noise, steps_needed(g), fabs(g->limit.pct));
}

static const char *judge(gate *g, char *why, size_t size) {
    if (lacks_data(g, why, size))
        return TM_GATE_UNDECIDED;
    double sign = g->limit.pct > 0.0 ? 1.0 : -1.0, most = fabs(g->limit.pct);
    g->change = tm_level_compare(&g->a, &g->b);
    g->judged = true;
    if (!g->of_steps)
        g->change.usual.noise = 0.0;
    tm_level_ignore_odd(&g->change, sign > 0.0 ? -HUGE_VAL : g->limit.pct,
                        sign > 0.0 ? g->limit.pct : HUGE_VAL);
    const tm_shift *shift = tm_level_shift(&g->change);
    const bool missed = g->change.basis == TM_BASIS_MISSED;
    if (!missed && sign * shift->pct > needed(g))
        return TM_GATE_FAIL;
    if (!missed && sign * shift->pct <= most && shift->noise <= most)
        return TM_GATE_PASS;
    say_chance(g, why, size);
    return TM_GATE_UNDECIDED;
}

static tm_status set_row(const gate *g, const char *verdict, const char *why, tm_table *out,
                         tm_error *err) {
    char name[64];
    tm_cell *row = tm_table_add_row(out);
    if (!row)
        return tm_fail_memory(err);
    snprintf(name, sizeof name, "%s.%s", names[g->limit.name].table, names[g->limit.name].column);
    for (int side = 0; side < 2; side++) {
        const tm_level *l = side ? &g->b : &g->a;
        if (l->n >= (g->of_steps ? TM_GATE_STEPS_MIN : 1))
            tm_cell_set_real(&row[G_A + side],
                             g->judged ? tm_level_shift(&g->change)->of[side].mean : l->usual.mean);
        if (g->of_steps)
            tm_cell_set_int(&row[G_A_STEPS + side], (int64_t)l->n);
    }
    if (g->judged)
        tm_cell_set_real(&row[G_CHANGE], tm_level_shift(&g->change)->pct);
    if (g->judged && g->of_steps) {
        tm_cell_set_real(&row[G_NOISE], tm_level_shift(&g->change)->noise);
        TM_TRY(tm_table_set_text(out, &row[G_OVER], tm_level_over_steps(&g->change), err));
    }
    tm_cell_set_real(&row[G_LIMIT], g->limit.pct);
    TM_TRY(tm_table_set_text(out, &row[G_FIGURE], name, err));
    TM_TRY(tm_table_set_text(out, &row[G_KIND], g->kind, err));
    TM_TRY(tm_table_set_text(out, &row[G_VERDICT], verdict, err));
    return tm_table_set_text(out, &row[G_WHY], *why ? why : NULL, err);
}

/* Returns whether a figure depends on recorded times of devices. Peaks of memory do not. */
static bool rests_on_devices(int name) {
    return strcmp(names[name].table, "memory.device") != 0;
}

/* Returns whether a kind gets no row: one of the jobs has too few of its steps for a verdict, and
 * the kind takes little time in both jobs. */
static bool is_minor(const tm_kind_pairs *kinds, int pair) {
    double all[2] = {0.0, 0.0};
    const tm_kind_pair *own = &kinds->pairs[pair];
    for (int k = 0; k < kinds->n; k++)
        for (int side = 0; side < 2; side++)
            all[side] += kinds->pairs[k].ns[side];
    return fmin(own->steps[0], own->steps[1]) < TM_GATE_STEPS_MIN && own->ns[0] < 0.05 * all[0] &&
           own->ns[1] < 0.05 * all[1];
}

static tm_status add_row(const tm_tables *const sides[2], const tm_kind_pairs *kinds, int pair,
                         tm_gate_limit limit, tm_table *out, tm_error *err) {
    gate g = {.limit = limit};
    char why[TM_GATE_WHY_MAX] = "";
    tm_level *levels[2] = {&g.a, &g.b};
    g.of_steps = is_of_steps(sides[0], limit.name);
    g.kind = g.of_steps ? kinds->pairs[pair].name : NULL;
    for (int side = 0; side < 2; side++) {
        TM_TRY(tm_level_measure(sides[side], limit.name, tm_kinds_steps(kinds, pair, side),
                                levels[side], err));
        g.ranks[side] = tm_level_ranks(sides[side]);
        g.marked[side] = tm_gate_is_marked(sides[side]);
        g.doubted[side] = rests_on_devices(limit.name) && tm_doubt_of_job(sides[side]);
    }
    const char *verdict = judge(&g, why, sizeof why);
    return set_row(&g, verdict, why, out, err);
}

tm_status tm_gate_compare(const tm_tables *sides[2], const tm_gate_limit *limits, size_t n,
                          tm_table *out, tm_error *err) {
    tm_kind_pairs kinds;
    TM_TRY(tm_kinds_pair(sides, &kinds, err));
    for (size_t i = 0; i < n; i++) {
        int n_kinds = is_of_steps(sides[0], limits[i].name) ? kinds.n : 1;
        for (int pair = 0; pair < n_kinds; pair++)
            if (n_kinds == 1 || !is_minor(&kinds, pair))
                TM_TRY(add_row(sides, &kinds, pair, limits[i], out, err));
    }
    return TM_OK;
}

const char *tm_gate_alias(const char *figure) {
    for (int i = 0; i < N_NAMES; i++) {
        size_t size = strlen(names[i].table);
        if (strncmp(figure, names[i].table, size) == 0 && figure[size] == '.' &&
            strcmp(figure + size + 1, names[i].column) == 0)
            return names[i].alias;
    }
    return figure;
}
