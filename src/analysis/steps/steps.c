/* Analysis `steps`: of which kind each step is, and how long the steps of each kind take. */
#include "tmerge/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/kinds_of_steps.h"
#include "base/median.h"
#include "base/sorted.h"
#include "base/vec.h"
#include "timeline/step_names.h"

enum { M_RANK, M_STEP, M_KIND, N_MARK };

static const tm_column mark_columns[N_MARK] = {
    [M_RANK] = {"rank", TM_INT, "", "Global rank."},
    [M_STEP] = {"step", TM_INT, "", "Number of the step."},
    [M_KIND] = {"kind", TM_TEXT, "",
                "The words of its annotation without the numbers: DECODE of step[DECODE bs=16]; "
                "null for none."},
};

static const tm_table_def mark_def = {
    .name = "steps.mark",
    .doc = "A row for each marked step of a rank: what its annotation says.",
    .columns = mark_columns,
    .n_columns = N_MARK,
    .n_keys = 2,
    .top = -1,
};

enum { K_KIND, K_STEPS, K_MEDIAN, K_MEAN, K_SHORTEST, K_LONGEST, K_COV, K_SHARE, N_KIND };

static const tm_column kind_columns[N_KIND] = {
    [K_KIND] = {"kind", TM_TEXT, "", "steps.mark.kind."},
    [K_STEPS] = {"steps", TM_INT, "",
                 "Its steps, of all ranks that have one together one; partial ones are left out."},
    [K_MEDIAN] = {"median_ns", TM_INT, "ns",
                  "Median over them of the mean over ranks of overview.step.step_ns."},
    [K_MEAN] = {"mean_ns", TM_INT, "ns", "Their mean."},
    [K_SHORTEST] = {"min_ns", TM_INT, "ns", "The shortest."},
    [K_LONGEST] = {"max_ns", TM_INT, "ns", "The longest."},
    [K_COV] = {"cov_pct", TM_REAL, "%",
               "100 standard deviation / mean; null for fewer than three."},
    [K_SHARE] = {"share_pct", TM_REAL, "%", "Their share of the time of the steps of all kinds."},
};

static const tm_table_def kind_def = {
    .name = "steps.kind",
    .doc = "A row for each kind of steps: how long they take. None where the names are of more "
           "than 8 kinds, which tell none.",
    .columns = kind_columns,
    .n_columns = N_KIND,
    .n_keys = 1,
    .top = K_SHARE,
};

static const tm_table_def *const defs[] = {&kind_def, &mark_def};

static tm_status steps_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    tm_table *table = tm_tables_find(out, mark_def.name);
    for (size_t i = 0; i < timeline->n_steps; i++) {
        const tm_step *step = &timeline->steps[i];
        char kind[TM_STEP_KIND_MAX];
        if (step->name == TM_NO_NAME)
            continue;
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_step_kind_of(tm_names_text(view->names, step->name), kind);
        tm_cell_set_int(&row[M_RANK], timeline->rank);
        tm_cell_set_int(&row[M_STEP], step->number);
        TM_TRY(tm_table_set_text(table, &row[M_KIND], *kind ? kind : NULL, err));
    }
    return TM_OK;
}

/* A step of a rank, then of all. */
typedef struct length {
    int kind;
    int64_t step, ns;
} length;

static int by_kind(const void *a, const void *b) {
    const length *x = a, *y = b;
    return x->kind != y->kind ? x->kind - y->kind : tm_order_i64(x->step, y->step);
}

/* The whole steps of all ranks that are of a kind. */
static bool gather(const tm_tables *tables, const tm_step_kinds *kinds, tm_vec *out) {
    const tm_table *steps = tm_tables_find(tables, "overview.step");
    const tm_table *windows = tm_tables_find(tables, "overlap.step");
    for (size_t i = 0; i < steps->n_rows; i++) {
        int64_t rank = tm_table_cell(steps, i, "rank")->value.i;
        int64_t step = tm_table_cell(steps, i, "step")->value.i;
        length l = {tm_step_kind(kinds, rank, step), step,
                    tm_table_cell(steps, i, "step_ns")->value.i};
        bool partial = i < windows->n_rows && tm_table_cell(windows, i, "partial")->value.i;
        if (l.kind >= 0 && !partial && !tm_vec_append(out, &l, 1))
            return false;
    }
    tm_sort(out->data, out->n, out->size, by_kind);
    return true;
}

/* Of steps of one kind and number the mean, in place. */
static void average(tm_vec *lengths) {
    length *v = lengths->data;
    size_t n = 0;
    for (size_t first = 0, i = 0; first < lengths->n; first = i) {
        double sum = 0.0;
        for (; i < lengths->n && by_kind(&v[i], &v[first]) == 0; i++)
            sum += (double)v[i].ns;
        v[n] = v[first];
        v[n++].ns = llround(sum / (double)(i - first));
    }
    lengths->n = n;
}

/* [n >= 1] steps of one kind, which are moved about. */
static void set_lengths(int64_t *ns, size_t n, double all, tm_cell *row) {
    double sum = 0.0, squares = 0.0;
    tm_sort_values(ns, n);
    for (size_t i = 0; i < n; i++)
        sum += (double)ns[i];
    for (size_t i = 0; i < n; i++)
        squares += pow((double)ns[i] - sum / (double)n, 2.0);
    tm_cell_set_int(&row[K_STEPS], (int64_t)n);
    tm_cell_set_int(&row[K_MEDIAN], tm_median(ns, n));
    tm_cell_set_int(&row[K_MEAN], llround(sum / (double)n));
    tm_cell_set_int(&row[K_SHORTEST], ns[0]);
    tm_cell_set_int(&row[K_LONGEST], ns[n - 1]);
    if (n >= 3 && sum > 0.0)
        tm_cell_set_real(&row[K_COV], 100.0 * sqrt(squares / (double)n) / (sum / (double)n));
    if (all > 0.0)
        tm_cell_set_real(&row[K_SHARE], 100.0 * sum / all);
}

static tm_status add_kinds(const tm_step_kinds *kinds, const tm_vec *lengths, int64_t *ns,
                           tm_table *table, tm_error *err) {
    const length *v = lengths->data;
    double all = 0.0;
    for (size_t i = 0; i < lengths->n; i++)
        all += (double)v[i].ns;
    for (size_t first = 0, i = 0; first < lengths->n; first = i) {
        for (; i < lengths->n && v[i].kind == v[first].kind; i++)
            ns[i - first] = v[i].ns;
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        set_lengths(ns, i - first, all, row);
        TM_TRY(tm_table_set_text(table, &row[K_KIND], kinds->names[v[first].kind], err));
    }
    return TM_OK;
}

static tm_status steps_job(const tm_job *job, tm_tables *out, tm_error *err) {
    const tm_step_kinds kinds = tm_step_kinds_find(out);
    tm_vec lengths = TM_VEC(length);
    (void)job;
    tm_status status = gather(out, &kinds, &lengths) ? TM_OK : tm_fail_memory(err);
    average(&lengths);
    int64_t *ns = malloc((lengths.n + 1) * sizeof *ns);
    if (status == TM_OK)
        status = ns ? add_kinds(&kinds, &lengths, ns, tm_tables_find(out, kind_def.name), err)
                    : tm_fail_memory(err);
    free(ns);
    tm_vec_free(&lengths);
    return status;
}

const tm_analysis tm_analysis_steps = {
    .name = "steps",
    .summary = "of which kind each step is, and how long the steps of each kind take",
    .tables = defs,
    .n_tables = sizeof defs / sizeof *defs,
    .rank = steps_rank,
    .job = steps_job,
};
