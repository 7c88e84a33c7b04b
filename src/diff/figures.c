/* Fills diff.job with figures of the job, and diff.rank with figures of the ranks of each role.
 * Changes are judged by the variation of the steps. */
#include "parts.h"

#include <math.h>
#include <string.h>

/* Columns of both tables. */
enum { F_FIGURE, F_KIND, F_UNIT, F_A, F_B, F_CHANGE, F_PCT, F_NOISE, F_VERDICT, F_OVER, N_SHARED };

#define FIGURE_COLUMNS                                                                             \
    {"figure", TM_TEXT, "",                                                                        \
     "Name of the figure: ANALYSIS.TABLE.COLUMN of the column that defines it."},                  \
        {"kind", TM_TEXT, "",                                                                      \
         "Kind of the steps if A or B has several kinds (steps.kind); otherwise null."},           \
        {"unit", TM_TEXT, "", "Unit of the columns a, b, change and noise."},                      \
        {"a", TM_REAL, "",                                                                         \
         "Value of the figure in A. Figures by step: mean over ranks in each step, then median "   \
         "over steps (or mean, see over_steps), without partial steps. Counts and bytes that "     \
         "grow with the recording: per rank and step. Samples and tokens per second: the given "   \
         "number per step / step_ns. Columns of memory.device: the largest value of any GPU. All " \
         "others: the job's value."},                                                              \
        {"b", TM_REAL, "", "Value of the figure in B, computed in the same way as the column a."}, \
        {"change", TM_REAL, "", "Change of the figure from A to B: b - a."},                       \
        {"change_pct", TM_REAL, "%", "Change of the figure relative to A: 100 change / a."},       \
        {"noise", TM_REAL, "",                                                                     \
         "How much a and b may differ by chance: 3 (1 + 4 / n) times the standard error of the "   \
         "difference of the medians, 1.0895 Q sqrt(1 / steps of A + 1 / steps of B). Q is the "    \
         "third quartile of the steps' absolute deviations from the median, the larger of A and "  \
         "B; n is the smaller number of steps. For means: as diff.gate.noise_pct. Null for "       \
         "figures that are not by step."},                                                         \
        {"verdict", TM_TEXT, "",                                                                   \
         "Verdict on the change. higher or lower: the change exceeds noise; for figures that "     \
         "are not by step, the change is at least 2 %. unclear: the change is smaller, or the "    \
         "figure is a count and the shares of the kinds of steps differ between A and B, or the "  \
         "mean of periods changed otherwise but A or B has fewer steps than a period of the "      \
         "other. same: no change. too few steps: A or B has under 3 steps. only A or only B: the " \
         "other job does not have the figure."},                                                   \
    {                                                                                              \
        "over_steps", TM_TEXT, "",                                                                 \
            "Which values a and b are: median, mean or mean of periods. The means are those of "   \
            "diff.gate.over_steps; the mean must give another verdict than the median. Null for "  \
            "figures that are not by step."                                                        \
    }

static const tm_column job_columns[] = {FIGURE_COLUMNS};

const tm_table_def tm_diff_job_def = {
    .name = "diff.job",
    .doc = "A row for each figure of the whole job.",
    TM_ARRAY(columns, job_columns),
    .n_keys = F_KIND + 1,
    .top = -1,
};

enum { R_ROLE, R_A_RANKS, R_B_RANKS, R_SHARED, N_RANK = R_SHARED + N_SHARED };

static const tm_column rank_columns[] = {
    {"role", TM_INT, "",
     "Number of the role. Roles are numbered in the order of their lowest ranks. Ranks of a role "
     "have the same number of communication kernels of each kind in a step. If A and B have "
     "different numbers of roles, all ranks have one role."},
    {"a_ranks", TM_TEXT, "", "Ranks of the role in A, such as 0-3,8."},
    {"b_ranks", TM_TEXT, "", "Ranks of the role in B, such as 0-3,8."},
    FIGURE_COLUMNS,
};

const tm_table_def tm_diff_rank_def = {
    .name = "diff.rank",
    .doc = "A row for each role and figure: as in diff.job, over the ranks of the role.",
    TM_ARRAY(columns, rank_columns),
    .n_keys = R_SHARED + F_KIND + 1,
    .top = -1,
};

/* How a figure is computed from the rows of a table. */
typedef enum how {
    BY_STEP,  /* a sample over the steps (sample.h) */
    AS_IS,    /* the value of the only row */
    A_STEP,   /* the sum of all rows / the number of steps of all ranks together */
    OF_A_GPU, /* the largest value of any GPU */
    RATE,     /* samples or tokens in a step / the step time */
} how;

typedef struct figure {
    const char *table, *column;
    how how;
    bool of_ranks; /* true: the figure is also in diff.rank */
} figure;

/* The figures, in the order of rows. The first is the step time, which decides the verdict. */
static const figure figures[] = {
    {"overview.step", "step_ns", BY_STEP, true},
    {"overview.job", "samples_per_s", RATE, false},
    {"overview.job", "tokens_per_s", RATE, false},
    {"overview.step", "kernel_ns", BY_STEP, false},
    {"overview.step", "comm_ns", BY_STEP, false},
    {"overview.step", "memcpy_ns", BY_STEP, false},
    {"overview.step", "memset_ns", BY_STEP, false},
    {"overview.step", "runtime_ns", BY_STEP, false},
    {"overview.step", "input_ns", BY_STEP, false},
    {"overview.step", "cpu_ns", BY_STEP, false},
    {"overview.step", "other_ns", BY_STEP, false},
    {"overview.step", "gpu_utilization_pct", BY_STEP, true},
    {"overview.job", "sm_efficiency_pct", AS_IS, false},
    {"overview.job", "occupancy_pct", AS_IS, false},
    {"overview.job", "tensor_core_pct", AS_IS, false},
    {"overlap.step", "compute_ns", BY_STEP, true},
    {"overlap.step", "comm_ns", BY_STEP, true},
    {"overlap.step", "overlap_ns", BY_STEP, false},
    {"overlap.step", "overlap_pct", BY_STEP, false},
    {"overlap.step", "exposed_comm_ns", BY_STEP, true},
    {"overlap.step", "idle_ns", BY_STEP, true},
    {"overlap.step", "wait_ns", BY_STEP, true},
    {"overlap.step", "transfer_ns", BY_STEP, true},
    {"overlap.step", "comm_to_compute", BY_STEP, false},
    {"imbalance.step", "imbalance_pct", BY_STEP, false},
    {"whatif.job", "slowdown", AS_IS, false},
    {"whatif.step", "ideal_ns", BY_STEP, false},
    {"criticalpath.step", "compute_ns", BY_STEP, false},
    {"criticalpath.step", "copy_ns", BY_STEP, false},
    {"criticalpath.step", "comm_ns", BY_STEP, false},
    {"criticalpath.step", "transfer_ns", BY_STEP, false},
    {"criticalpath.step", "launch_ns", BY_STEP, false},
    {"criticalpath.step", "gap_ns", BY_STEP, false},
    {"criticalpath.step", "wait_ns", BY_STEP, false},
    {"criticalpath.step", "host_ns", BY_STEP, false},
    {"criticalpath.step", "call_ns", BY_STEP, false},
    {"criticalpath.step", "sync_ns", BY_STEP, false},
    {"criticalpath.step", "before_ns", BY_STEP, false},
    {"phases.step", "forward_ns", BY_STEP, false},
    {"phases.step", "backward_ns", BY_STEP, false},
    {"phases.step", "optimizer_ns", BY_STEP, false},
    {"phases.step", "data_ns", BY_STEP, false},
    {"phases.step", "other_ns", BY_STEP, false},
    {"input.step", "stall_ns", BY_STEP, true},
    {"memory.device", "peak_bytes", OF_A_GPU, false},
    {"memory.device", "peak_reserved_bytes", OF_A_GPU, false},
    {"memory.device", "growth_bytes", OF_A_GPU, false},
    {"transfers.size", "count", A_STEP, false},
    {"transfers.size", "bytes", A_STEP, false},
    {"transfers.allocation", "step_calls", A_STEP, false},
    {"launches.rank", "launches", A_STEP, false},
    {"kernels.kernel", "calls", A_STEP, false},
    {"kernels.kernel", "short_calls", A_STEP, false},
    {"job.job", "ranks", AS_IS, false},
    {"job.job", "hosts", AS_IS, false},
};
enum { N_FIGURES = sizeof figures / sizeof *figures };

bool tm_diff_reads(const char *table) {
    /* Other tables to read. They are needed for roles, sides, limits of noise and diff.operator. */
    static const char *const others[] = {"job.rank",     "job.integrity", "overview.rank",
                                         "overlap.kind", "calls.call",    "stragglers.job",
                                         "whatif.item",  "steps.mark",    "efficiency.rank"};
    for (size_t i = 0; i < N_FIGURES; i++)
        if (strcmp(figures[i].table, table) == 0)
            return true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i], table) == 0)
            return true;
    return false;
}

double tm_diff_pct(double a, double b) {
    return 100.0 * (b - a) / fabs(a);
}

/* Returns whether a row of memory.device describes the host's memory. Peaks of host memory are not
 * compared. */
static bool is_of_cpu(const tm_table *table, size_t row) {
    const tm_cell *device = tm_table_cell(table, row, "device");
    return !device->null && strncmp(device->value.text, "cpu", 3) == 0;
}

tm_sample tm_diff_largest(const tm_table *table, const char *column, bool of_gpus) {
    bool real = tm_column_of(table->def, column)->type == TM_REAL;
    tm_sample found = {0};
    for (size_t i = 0; i < table->n_rows; i++) {
        const tm_cell *cell = tm_table_cell(table, i, column);
        if (cell->null || (of_gpus && is_of_cpu(table, i)))
            continue;
        double value = real ? cell->value.r : (double)cell->value.i;
        if (found.n == 0 || value > found.middle)
            found.middle = value;
        found.n = 1;
    }
    return found;
}

/* Sums an integer column of a table. In the result, `n` is 1, or 0 if the column has no values. */
static tm_sample sum_up(const tm_table *table, const char *column) {
    tm_sample found = {0};
    for (size_t i = 0; i < table->n_rows; i++) {
        const tm_cell *cell = tm_table_cell(table, i, column);
        if (cell->null)
            continue;
        found.middle += (double)cell->value.i;
        found.n = 1;
    }
    return found;
}

/* Returns the value of a figure that is not by step. */
static tm_sample find_whole(const tm_diff *diff, int side, const figure *f) {
    const tm_table *table = tm_tables_find(diff->tables[side], f->table);
    if (f->how != A_STEP)
        return tm_diff_largest(table, f->column, f->how == OF_A_GPU);
    tm_sample found = sum_up(table, f->column);
    found.middle /= diff->rank_steps[side];
    return found;
}

/* Returns the verdict. The order of the checks matters. A figure that a side lacks has no change.
 * Equal values are "same" with any number of steps. */
static const char *judge(const tm_diff *diff, const tm_sample s[2], how way,
                         const tm_sample_change *c) {
    bool by_step = way == BY_STEP || way == RATE;
    double change = c->of[1] - c->of[0];
    if (s[0].n == 0 || s[1].n == 0)
        return s[0].n == 0 ? "only B" : "only A";
    if (change == 0.0)
        return TM_DIFF_SAME;
    if (by_step ? !tm_sample_judges(&s[0], &s[1]) : way == A_STEP && diff->by_call)
        return diff->shifted && !by_step ? TM_DIFF_UNCLEAR : TM_DIFF_FEW;
    /* The variation of a figure that is not by step is unknown, so a fixed percentage is used. */
    double pct = fabs(tm_diff_pct(c->of[0], c->of[1]));
    if (c->basis == TM_BASIS_MISSED ||
        (by_step ? fabs(change) <= c->noise : pct < TM_DIFF_LEAST_PCT))
        return TM_DIFF_UNCLEAR;
    return change > 0.0 ? "higher" : "lower";
}

/* The unit is the same on both sides, because this program defines all tables. */
static const char *unit_of(const tm_diff *diff, const figure *f) {
    return tm_column_of(tm_tables_find(diff->tables[0], f->table)->def, f->column)->unit;
}

/* Sets the row of a figure from its samples. The figure has the name of the column that defines it.
 */
static tm_status set_figure(const tm_diff *diff, tm_table *out, tm_cell *cells, const figure *f,
                            const char *kind, const tm_sample s[2]) {
    char name[64] = "";
    size_t size = strlen(f->table);
    memcpy(name, f->table, size);
    name[size] = '.';
    memcpy(name + size + 1, f->column, strlen(f->column) + 1);
    bool by_step = f->how == BY_STEP || f->how == RATE, both = s[0].n > 0 && s[1].n > 0;
    const tm_sample_change c = tm_sample_compare(s);
    for (int side = 0; side < 2; side++)
        if (s[side].n > 0)
            tm_cell_set_real(&cells[F_A + side], c.of[side]);
    if (both) {
        tm_cell_set_real(&cells[F_CHANGE], c.of[1] - c.of[0]);
        tm_cell_set_real(&cells[F_PCT], tm_diff_pct(c.of[0], c.of[1]));
    }
    if (both && by_step && tm_sample_judges(&s[0], &s[1]))
        tm_cell_set_real(&cells[F_NOISE], c.noise);
    if (by_step)
        TM_TRY(tm_table_set_text(out, &cells[F_OVER], tm_whole_word(c.basis, "median"), NULL));
    TM_TRY(tm_table_set_text(out, &cells[F_FIGURE], name, NULL));
    TM_TRY(tm_table_set_text(out, &cells[F_KIND], kind, NULL));
    TM_TRY(tm_table_set_text(out, &cells[F_UNIT], unit_of(diff, f), NULL));
    return tm_table_set_text(out, &cells[F_VERDICT], judge(diff, s, f->how, &c), NULL);
}

/* Samples a rate (samples or tokens in a step / step time), with the number of steps and the
 * relative variation of the step time. */
static tm_status sample_rate(const tm_tables *tables, const figure *f, tm_sample_ranks of,
                             tm_sample *out, tm_error *err) {
    const tm_table *job = tm_tables_find(tables, f->table);
    const char *given_column =
        strcmp(f->column, "samples_per_s") == 0 ? "samples_per_step" : "tokens_per_step";
    *out = (tm_sample){0};
    if (job->n_rows == 0 || tm_table_cell(job, 0, f->column)->null)
        return TM_OK;
    double number = (double)tm_table_cell(job, 0, given_column)->value.i;
    TM_TRY(tm_sample_take(tables, "overview.step", "step_ns", of, out, err));
    if (out->n == 0 || !(out->middle > 0.0))
        return TM_OK;
    out->spread *= number * 1e9 / (out->middle * out->middle);
    out->middle = number * 1e9 / out->middle;
    tm_estimate_invert(&out->whole.all, number * 1e9);
    return TM_OK;
}

/* Samples a figure on both sides. Uses the steps of a kind, and the ranks of a role or, if @p role
 * is NULL, all ranks. */
static tm_status sample_both(const tm_diff *diff, const figure *f, int pair, const int *role,
                             tm_sample out[2], tm_error *err) {
    for (int side = 0; side < 2; side++) {
        tm_sample_ranks of = tm_kinds_steps(&diff->kinds, pair, side);
        of.roles = role ? &diff->roles[side] : NULL;
        of.role = role ? *role : 0;
        if (f->how == BY_STEP)
            TM_TRY(tm_sample_take(diff->tables[side], f->table, f->column, of, &out[side], err));
        else if (f->how == RATE)
            TM_TRY(sample_rate(diff->tables[side], f, of, &out[side], err));
        else
            out[side] = find_whole(diff, side, f);
    }
    return TM_OK;
}

static tm_status set_role(const tm_diff *diff, int role, tm_table *out, tm_cell *row) {
    char ranks[2][64];
    for (int side = 0; side < 2; side++)
        tm_roles_list(&diff->roles[side], role, ranks[side], sizeof ranks[side]);
    tm_cell_set_int(&row[R_ROLE], role);
    TM_TRY(tm_table_set_text(out, &row[R_A_RANKS], ranks[0], NULL));
    return tm_table_set_text(out, &row[R_B_RANKS], ranks[1], NULL);
}

/* Adds a row for a figure; if the figure is by step, a row for each kind of steps. */
static tm_status add_figure(const tm_diff *diff, const figure *f, const int *role, tm_table *out,
                            tm_error *err) {
    const int n = f->how == BY_STEP || f->how == RATE ? diff->kinds.n : 1;
    for (int pair = 0; pair < n; pair++) {
        const char *kind =
            f->how == BY_STEP || f->how == RATE ? diff->kinds.pairs[pair].name : NULL;
        tm_sample s[2];
        TM_TRY(sample_both(diff, f, pair, role, s, err));
        if (s[0].n == 0 && s[1].n == 0)
            continue;
        tm_cell *row = tm_table_add_row(out);
        if (!row || (role && set_role(diff, *role, out, row) != TM_OK) ||
            set_figure(diff, out, row + (role ? R_SHARED : 0), f, kind, s) != TM_OK)
            return tm_fail_memory(err);
    }
    return TM_OK;
}

tm_status tm_diff_figures(const tm_diff *diff, tm_table *out, tm_error *err) {
    for (size_t i = 0; i < N_FIGURES; i++)
        TM_TRY(add_figure(diff, &figures[i], NULL, out, err));
    return TM_OK;
}

tm_status tm_diff_ranks(const tm_diff *diff, tm_table *out, tm_error *err) {
    /* tm_diff_compare has made sure that both sides have the same number of roles. */
    for (int role = 0; role < diff->roles[0].n_roles; role++)
        for (size_t i = 0; i < N_FIGURES; i++)
            if (figures[i].of_ranks)
                TM_TRY(add_figure(diff, &figures[i], &role, out, err));
    return TM_OK;
}
