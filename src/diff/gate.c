/* diff.gate: whether figures of the steps have changed beyond their limits. */
#include "tmerge/gate.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/doubt.h"
#include "base/sorted.h"
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
    N_G
};

static const tm_column columns[N_G] = {
    {"figure", TM_TEXT, "",
     "Name of the figure: ANALYSIS.TABLE.COLUMN of the column that defines it."},
    {"kind", TM_TEXT, "",
     "Kind of the steps (steps.kind), if the jobs have several kinds; otherwise null. A kind has "
     "no row if it has under 5 steps in one of the two jobs, and under 5 % of the steps' time in "
     "both."},
    {"a", TM_REAL, "",
     "Value of the figure in the first job (before). Figures by step: mean over ranks in each "
     "whole step, then trimmed mean over steps, without the tenth (rounded up) with the smallest "
     "values and the tenth with the largest. Peaks: the largest of any GPU. Null if not recorded, "
     "or with under 5 whole steps."},
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
     "neither the change nor noise_pct exceeds the limit. undecided: all other cases."},
    {"why", TM_TEXT, "", "Why the verdict is undecided. Null for other verdicts."},
};

const tm_table_def tm_gate_def = {
    .name = "diff.gate",
    .doc = "A row for each figure with a limit; for figures by step, a row for each kind of steps.",
    .columns = columns,
    .n_columns = N_G,
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

static double clamp(double value, double low, double high) {
    return value < low ? low : value > high ? high : value;
}

/* Returns the factor by which the autocorrelation of steps increases the standard error. */
static double widening(const tm_step_mean *steps, size_t n, double low, double high, double mean) {
    double own = 0.0, next = 0.0;
    for (size_t i = 0; i < n; i++) {
        double off = clamp(steps[i].mean, low, high) - mean;
        own += off * off;
        if (i + 1 < n)
            next += off * (clamp(steps[i + 1].mean, low, high) - mean);
    }
    double r = own > 0.0 ? clamp(next / own, -0.95, 0.95) : 0.0;
    return r > 2.0 / sqrt((double)n) ? sqrt((1.0 + r) / (1.0 - r)) : 1.0;
}

static int by_value(const void *a, const void *b) {
    return tm_order_real(*(const double *)a, *(const double *)b);
}

/* Sets the trimmed mean, and its standard error from the winsorized deviations (Yuen 1974). A
 * single odd step, such as the first, does not affect them. */
static void settle(const tm_step_mean *steps, double *sorted, size_t n, tm_level *out) {
    size_t cut = (n + 9) / 10, kept = n - 2 * cut;
    for (size_t i = 0; i < n; i++)
        sorted[i] = steps[i].mean;
    qsort(sorted, n, sizeof *sorted, by_value);
    double low = sorted[cut], high = sorted[n - 1 - cut], sum = 0.0, all = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += i >= cut && i < n - cut ? sorted[i] : 0.0;
        all += clamp(sorted[i], low, high);
    }
    for (size_t i = 0; i < n; i++)
        squares += pow(clamp(sorted[i], low, high) - all / (double)n, 2.0);
    out->mean = sum / (double)kept;
    out->error = sqrt(squares / (double)(n - 1)) * sqrt((double)n) / (double)kept *
                 widening(steps, n, low, high, all / (double)n);
    out->freedom = (double)(kept - 1);
}

static tm_level mean_of_few(const tm_step_mean *steps, size_t n) {
    tm_level found = {.error = (double)NAN, .n = n};
    for (size_t i = 0; i < n; i++)
        found.mean += steps[i].mean / (double)n;
    return found;
}

static tm_status measure_steps(const tm_tables *tables, int name, tm_sample_ranks of, tm_level *out,
                               tm_error *err) {
    tm_vec steps = TM_VEC(tm_step_mean);
    tm_status status =
        tm_sample_steps(tables, names[name].table, names[name].column, of, &steps, err);
    double *sorted = malloc((steps.n + 1) * sizeof *sorted);
    if (status == TM_OK && !sorted)
        status = tm_fail_memory(err);
    out->n = steps.n;
    if (status == TM_OK && sorted && steps.n >= TM_GATE_STEPS_MIN)
        settle(steps.data, sorted, steps.n, out);
    else if (status == TM_OK && steps.n > 0)
        *out = mean_of_few(steps.data, steps.n);
    free(sorted);
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
    if (out->mean > 0.0) {
        double rate = held * 1e9 / out->mean;
        out->error = rate * out->error / out->mean;
        out->mean = rate;
    }
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
    *out = (tm_level){.mean = whole.middle, .error = (double)NAN, .n = whole.n};
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

/* Returns the value that Student's t exceeds with probability 1/400. It is computed from the normal
 * quantile (Abramowitz and Stegun, 26.7.5). With 3 or more degrees of freedom, it is off by at most
 * 1.5 %. With 2, which is the minimum, it is 7 % too low. */
static double student(double freedom) {
    const double z = 2.807034, z2 = z * z, f = 1.0 / freedom;
    double t = z2 * (z2 * (z2 * (79.0 * z2 + 776.0) + 1482.0) - 1920.0) - 945.0;
    t = t * f / 92160.0 + (z2 * (z2 * (3.0 * z2 + 19.0) + 17.0) - 15.0) / 384.0;
    t = t * f + (z2 * (5.0 * z2 + 16.0) + 3.0) / 96.0;
    t = t * f + (z2 + 1.0) / 4.0;
    return z * (1.0 + t * f);
}

/* Student's t is used, because the deviations of few steps may be too small by chance. The degrees
 * of freedom follow Welch's formula, as in Yuen's test. */
double tm_level_noise(const tm_level *a, const tm_level *b) {
    double a_square = pow(b->mean / a->mean * a->error, 2.0), b_square = pow(b->error, 2.0);
    double both = a_square + b_square;
    if (!(both > 0.0)) /* no variance, or NaN if unknown */
        return both;
    double freedom =
        both * both / (a_square * a_square / a->freedom + b_square * b_square / b->freedom);
    return 100.0 * student(freedom) * sqrt(both) / a->mean;
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
    bool doubted[2];      /* whether times on devices may be wrong by more than 5 % */
    double change, noise; /* [%] */
} gate;

/* Returns the number of steps that each side would need for noise to be as low as the limit. */
static double steps_needed(const gate *g) {
    double n = (double)(g->a.n < g->b.n ? g->a.n : g->b.n);
    return ceil(n * pow(g->noise / fabs(g->limit.pct), 2.0) - 1e-6);
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
    else if (!(g->a.mean > 0.0))
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
    return g->noise > most ? most + fmin(2.0 * (g->noise - most), g->noise) : most;
}

static const char *judge(gate *g, char *why, size_t size) {
    if (lacks_data(g, why, size))
        return TM_GATE_UNDECIDED;
    double sign = g->limit.pct > 0.0 ? 1.0 : -1.0, most = fabs(g->limit.pct);
    g->change = tm_diff_pct(g->a.mean, g->b.mean);
    g->noise = 0.0;
    if (g->of_steps)
        g->noise = tm_level_noise(&g->a, &g->b);
    if (sign * g->change > needed(g))
        return TM_GATE_FAIL;
    if (sign * g->change <= most && g->noise <= most)
        return TM_GATE_PASS;
    snprintf(why, size,
             "chance may change it by %.1f %%: about %.0f steps on each side would distinguish "
             "%.3g %% from chance",
             g->noise, steps_needed(g), most);
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
            tm_cell_set_real(&row[G_A + side], l->mean);
        if (g->of_steps)
            tm_cell_set_int(&row[G_A_STEPS + side], (int64_t)l->n);
    }
    if (isfinite(g->change))
        tm_cell_set_real(&row[G_CHANGE], g->change);
    if (isfinite(g->noise) && g->of_steps)
        tm_cell_set_real(&row[G_NOISE], g->noise);
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
    gate g = {.limit = limit, .change = (double)NAN, .noise = (double)NAN};
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
