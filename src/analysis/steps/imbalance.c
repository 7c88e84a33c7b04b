/* Analysis `imbalance`: how unevenly computation is distributed over the ranks. */
#include "tmerge/analysis.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/shared/busy.h"
#include "analysis/shared/doubt.h"
#include "base/median.h"
#include "base/sorted.h"
#include "base/vec.h"

/* Columns of both tables, relative to the first column after the step. */
enum {
    I_MEAN,
    I_MAX,
    I_MAX_RANK,
    I_PCT,
    I_NS,
    I_LOAD_BALANCE,
    I_COV,
    I_GINI,
    I_STEP,
    I_PARALLEL,
    I_COMMUNICATION,
    N_SHARED
};

#define SHARED_COLUMNS                                                                             \
    {"mean_compute_ns", TM_INT, "ns",                                                              \
     "Compute time of a rank in the step (overlap.step.compute_ns): mean over the ranks that "     \
     "have GPU events."},                                                                          \
        {"max_compute_ns", TM_INT, "ns",                                                           \
         "Largest compute time of a rank in the step (overlap.step.compute_ns)."},                 \
        {"max_rank", TM_INT, "",                                                                   \
         "Rank with the largest compute time (max_compute_ns); the lowest if there are several."}, \
        {"imbalance_pct", TM_REAL, "%",                                                            \
         "How much longer the rank with the most work computes than the mean, as a share of the "  \
         "mean: 100 (max_compute_ns / mean_compute_ns - 1)."},                                     \
        {"imbalance_ns", TM_INT, "ns",                                                             \
         "How much longer the rank with the most work computes than the mean: max_compute_ns - "   \
         "mean_compute_ns."},                                                                      \
        {"load_balance", TM_REAL, "",                                                              \
         "Load balance: mean_compute_ns / max_compute_ns. 1 if all ranks compute equally long."},  \
        {"cov", TM_REAL, "",                                                                       \
         "Coefficient of variation of the ranks' compute time: population standard deviation / "   \
         "mean_compute_ns."},                                                                      \
        {"gini", TM_REAL, "",                                                                      \
         "Gini coefficient of the ranks' compute time: 0 if all ranks compute equally long."},     \
        {"step_ns", TM_INT, "ns",                                                                  \
         "Longest window of any rank in the step; if no trace marks steps, the longest "           \
         "overlap.rank.window_ns."},                                                               \
        {"parallel_efficiency", TM_REAL, "",                                                       \
         "Share of the step in which a rank computes, on average: mean_compute_ns / step_ns."},    \
    {                                                                                              \
        "communication_efficiency", TM_REAL, "",                                                   \
            "Share of the step in which the rank with the most work computes: max_compute_ns / "   \
            "step_ns."                                                                             \
    }

static const tm_column step_columns[] = {
    {"step", TM_INT, "", "Number of the step."},
    SHARED_COLUMNS,
};

enum { J_RANKS = N_SHARED, J_STEPS, J_PARTIAL, N_JOB_COLUMNS };

static const tm_column job_columns[] = {
    SHARED_COLUMNS,
    {"ranks", TM_INT, "",
     "Number of ranks that are compared: ranks with GPU events that recorded the whole step. Ranks "
     "whose trace was cut short, or whose job.integrity.moves_pct is above 5, are left out, unless "
     "fewer than two ranks remain."},
    {"steps", TM_INT, "",
     "Number of steps that are compared: steps that all compared ranks recorded completely."},
    {"partial_steps", TM_INT, "",
     "Number of steps, summed over ranks, that are not compared: the recording started or ended in "
     "them, or they have no recorded work on a rank whose job.integrity.moves_pct is above 5."},
};

static const tm_table_def step_def = {
    .name = "imbalance.step",
    .doc = "A row for each step, over the ranks that recorded it completely (see "
           "imbalance.job.ranks and partial_steps). Comparisons are null if only one of several "
           "ranks recorded it completely.",
    TM_ARRAY(columns, step_columns),
    .n_keys = 1,
    .top = 1 + I_NS,
};

static const tm_table_def job_def = {
    .name = "imbalance.job",
    .doc = "One row: the columns of imbalance.step, computed from each rank's sums over the steps "
           "that all compared ranks recorded completely.",
    TM_ARRAY(columns, job_columns),
    .n_keys = 0,
    .top = -1,
};

static const tm_table_def *const defs[] = {&job_def, &step_def};

/* Compute time of a rank in a step, or in all steps. */
typedef struct load {
    int64_t step, rank, compute_ns, window_ns;
} load;

TM_ORDER_BY(by_step, load, step, rank);

TM_ORDER_BY(by_rank, load, rank);

/* Returns the Gini coefficient: sum (2i - n - 1) x_i / (n sum x), where x is ascending and i counts
 * from 1. */
static double gini_of(int64_t *sorted, size_t n, double sum) {
    double weighted = 0.0;
    tm_sort_values(sorted, n);
    for (size_t i = 0; i < n; i++)
        weighted += (2.0 * (double)(i + 1) - (double)n - 1.0) * (double)sorted[i];
    return weighted / ((double)n * sum);
}

/* Sets the coefficient of variation (standard deviation / mean) and the Gini coefficient; null if
 * no rank computes. */
static void set_spread(tm_cell *cells, const load *loads, size_t n, int64_t sum, int64_t *scratch) {
    double mean = (double)sum / (double)n, squares = 0.0;
    for (size_t i = 0; i < n; i++) {
        double off = (double)loads[i].compute_ns - mean;
        squares += off * off;
        scratch[i] = loads[i].compute_ns;
    }
    if (sum == 0)
        return;
    tm_cell_set_real(&cells[I_COV], sqrt(squares / (double)n) / mean);
    tm_cell_set_real(&cells[I_GINI], gini_of(scratch, n, (double)sum));
}

/* Sets the shared columns from the loads of a step, which ascend in rank. If only one of several
 * ranks has the step, the columns that compare ranks stay null. */
static tm_status set_loads(tm_cell *cells, const load *loads, size_t n, bool several,
                           tm_error *err) {
    const load *most = loads;
    int64_t sum = 0, window = 0, count = (int64_t)n;
    int64_t *scratch = malloc(n * sizeof *scratch);
    if (!scratch)
        return tm_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        sum += loads[i].compute_ns;
        most = loads[i].compute_ns > most->compute_ns ? &loads[i] : most;
        window = loads[i].window_ns > window ? loads[i].window_ns : window;
    }
    double max = (double)most->compute_ns, mean = (double)sum / (double)n;
    tm_cell_set_int(&cells[I_MEAN], tm_round_ratio(sum, count));
    tm_cell_set_int(&cells[I_MAX], most->compute_ns);
    tm_cell_set_int(&cells[I_MAX_RANK], most->rank);
    tm_cell_set_int(&cells[I_STEP], window);
    bool compared = n > 1 || !several;
    if (compared) /* computed from integers, so that the result is rounded only once */
        tm_cell_set_int(&cells[I_NS], tm_round_ratio(most->compute_ns * count - sum, count));
    if (compared && sum > 0) {
        tm_cell_set_real(&cells[I_PCT], 100.0 * (max / mean - 1.0));
        tm_cell_set_real(&cells[I_LOAD_BALANCE], mean / max);
    }
    if (window > 0) {
        tm_cell_set_real(&cells[I_PARALLEL], mean / (double)window);
        tm_cell_set_real(&cells[I_COMMUNICATION], max / (double)window);
    }
    if (compared)
        set_spread(cells, loads, n, sum, scratch);
    free(scratch);
    return TM_OK;
}

/* Returns whether a rank's trace was cut short, or lacks much of its work. */
static bool lacks_work(const tm_tables *tables, int64_t rank) {
    const tm_table *ranks = tm_tables_find(tables, "job.rank");
    const size_t row = tm_table_find_row(ranks, &rank, 1);
    return tm_doubt_of_rank(tables, rank) ||
           (row < ranks->n_rows && tm_table_cell(ranks, row, "truncated")->value.i != 0);
}

/* Returns whether a rank's work in a step was probably lost: no work was recorded in the step, and
 * the rank's figures are in doubt. */
static bool is_lost(const tm_tables *tables, const tm_table *steps, size_t row) {
    return tm_table_cell(steps, row, "idle_ns")->value.i ==
               tm_table_cell(steps, row, "window_ns")->value.i &&
           tm_doubt_of_rank(tables, tm_table_cell(steps, row, "rank")->value.i);
}

/* Collects the rows of overlap.step that count: rows of whole, recorded steps on ranks with GPU
 * events (the window is above 0). */
static tm_status read_loads(const tm_tables *tables, tm_vec *out, int64_t *n_partial,
                            tm_error *err) {
    const tm_table *steps = tm_tables_find(tables, "overlap.step");
    const tm_table *unmarked = tm_tables_find(tables, "overlap.unmarked");
    for (size_t i = 0; i < steps->n_rows; i++) {
        load l = {tm_table_cell(steps, i, "step")->value.i,
                  tm_table_cell(steps, i, "rank")->value.i,
                  tm_table_cell(steps, i, "compute_ns")->value.i,
                  tm_table_cell(steps, i, "window_ns")->value.i};
        const tm_cell *partial = tm_table_cell(steps, i, "partial");
        l.window_ns = tm_busy_compared(unmarked, l.rank, l.window_ns);
        bool is_partial =
            l.window_ns > 0 && ((!partial->null && partial->value.i) || is_lost(tables, steps, i));
        *n_partial += is_partial;
        if (l.window_ns > 0 && !is_partial && !tm_vec_append(out, &l, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

/* Drops ranks whose trace lacks steps or work, unless fewer than two ranks would remain. */
static void drop_lacking(const tm_tables *tables, tm_vec *loads) {
    load *v = loads->data;
    size_t n_whole = 0, n_kept = 0;
    int64_t last = -1;
    tm_vec_sort(loads, by_rank);
    for (size_t i = 0; i < loads->n; i++) {
        n_whole += v[i].rank != last && !lacks_work(tables, v[i].rank);
        last = v[i].rank;
    }
    bool cut = false;
    last = -1;
    for (size_t i = 0; i < loads->n && n_whole > 1; i++) {
        cut = v[i].rank != last ? lacks_work(tables, v[i].rank) : cut;
        last = v[i].rank;
        if (!cut)
            v[n_kept++] = v[i];
    }
    loads->n = n_whole > 1 ? n_kept : loads->n;
    tm_vec_sort(loads, by_step);
}

static size_t count_ranks(const load *loads, size_t n) {
    /* The loads of a step are sorted by rank. A rank may have a step in two spans. */
    size_t ranks = n > 0;
    for (size_t i = 1; i < n; i++)
        ranks += loads[i].rank != loads[i - 1].rank;
    return ranks;
}

/* Counts the ranks that have any step. */
static tm_status total_ranks(const tm_vec *loads, size_t *out, tm_error *err) {
    tm_vec copy = TM_VEC(load);
    if (!tm_vec_append(&copy, loads->data, loads->n))
        return tm_fail_memory(err);
    tm_vec_sort(&copy, by_rank);
    *out = count_ranks(copy.data, copy.n);
    tm_vec_free(&copy);
    return TM_OK;
}

/* Sums the loads of each rank into `common`, sorted by rank. Returns the number of ranks. */
static size_t sum_ranks(load *common, size_t n) {
    size_t kept = 0;
    if (n > 1)
        qsort(common, n, sizeof *common, by_rank);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && common[kept - 1].rank == common[i].rank) {
            common[kept - 1].compute_ns += common[i].compute_ns;
            common[kept - 1].window_ns += common[i].window_ns;
        } else {
            common[kept++] = common[i];
        }
    }
    return kept;
}

/* Adds the rows of the steps. A rank has two loads for a step if two recordings each have a part of
 * it. sum_ranks merges them in place, so the loads for the job's row are copied before. */
static tm_status add_steps(const tm_vec *loads, bool several, int64_t n_partial, tm_tables *out,
                           tm_error *err) {
    load *v = loads->data;
    tm_vec common = TM_VEC(load); /* loads of steps that all ranks have */
    size_t n_ranks = 0;
    int64_t n_common = 0;
    tm_status status = total_ranks(loads, &n_ranks, err);
    for (size_t first = 0, i = 0; first < loads->n && status == TM_OK; first = i) {
        for (i = first + 1; i < loads->n && v[i].step == v[first].step; i++)
            ;
        tm_cell *row = tm_table_add_row(tm_tables_find(out, step_def.name));
        /* The job's row covers only steps that all ranks have. Otherwise, a rank that lacks a step
         * would seem to have less work. */
        bool all = count_ranks(v + first, i - first) == n_ranks;
        if (!row || (all && !tm_vec_append(&common, v + first, i - first))) {
            status = tm_fail_memory(err);
            break;
        }
        n_common += all;
        tm_cell_set_int(&row[0], v[first].step);
        status = set_loads(row + 1, v + first, sum_ranks(v + first, i - first), several, err);
    }
    if (status == TM_OK && common.n > 0) {
        tm_cell *row = tm_table_add_row(tm_tables_find(out, job_def.name));
        size_t n = sum_ranks(common.data, common.n);
        status = row ? set_loads(row, common.data, n, several, err) : tm_fail_memory(err);
        if (status == TM_OK) {
            tm_cell_set_int(&row[J_RANKS], (int64_t)n);
            tm_cell_set_int(&row[J_STEPS], n_common);
            tm_cell_set_int(&row[J_PARTIAL], n_partial);
        }
    }
    tm_vec_free(&common);
    return status;
}

static tm_status imbalance_job(const tm_job *job, tm_tables *out, tm_error *err) {
    tm_vec loads = TM_VEC(load);
    int64_t n_partial = 0;
    tm_status status = read_loads(out, &loads, &n_partial, err);
    if (status == TM_OK) {
        drop_lacking(out, &loads);
        status = add_steps(&loads, job->n_ranks > 1, n_partial, out, err);
    }
    tm_vec_free(&loads);
    return status;
}

const tm_analysis tm_analysis_imbalance = {
    .name = "imbalance",
    .summary = "how unevenly computation is spread over the ranks",
    TM_ARRAY(tables, defs),
    .job = imbalance_job,
};
