/* Tables of imbalance: small jobs computed by hand. */
#include "analysis/analyses.h"
#include "rows_fixture.h"
#include "timeline_fixture.h"

#include <math.h>

enum { ROWS = 10, STEPS = 4 };

/* Rows of overlap.step, and rows of job.rank for truncated traces, with the expected result. A rank
 * without GPU events has windows of 0. */
typedef struct job_case {
    const char *loads[ROWS];
    const char *steps[STEPS];
    const char *job; /* "=": the cells of the first step, and further cells; NULL: no row */
} job_case;

static const job_case cases[] = {
    /* Three ranks compute 10, 20, 60 ns in windows of 100, 120, 80. Mean 30, maximum 60 on rank 2.
     * Imbalance 100 (60/30 - 1) = 100 % and 60 - 30 = 30 ns; load balance 30/60 = 0.5. cov:
     * deviations -20, -10, 30 have squares 400, 100, 900, mean 1400/3, root 21.602468995; 1/30 of
     * it is 0.7200822998. gini with weights -2, 0, 2: (-20 + 120) / (3 x 90) = 100/270 =
     * 0.3703703704. Efficiencies: parallel 30/120 = 0.25, communication 60/120 = 0.5. */
    {{"rank=0 step=7 window_ns=100 compute_ns=10", "rank=1 step=7 window_ns=120 compute_ns=20",
      "rank=2 step=7 window_ns=80 compute_ns=60"},
     {"step=7 mean_compute_ns=30 max_compute_ns=60 max_rank=2 imbalance_pct=100 imbalance_ns=30 "
      "load_balance=0.5 cov=0.7200822998 gini=0.3703703704 step_ns=120 parallel_efficiency=0.25 "
      "communication_efficiency=0.5"},
     "= ranks=3 steps=1 partial_steps=0"},
    /* Equal ranks are balanced, and the lowest is named, in any order of rows. Rank 1 has no GPU
     * events and is not counted. */
    {{"rank=3 step=0 window_ns=100 compute_ns=40", "rank=1 step=0 window_ns=0 compute_ns=0",
      "rank=2 step=0 window_ns=100 compute_ns=40"},
     {"step=0 mean_compute_ns=40 max_compute_ns=40 max_rank=2 imbalance_pct=0 imbalance_ns=0 "
      "load_balance=1 cov=0 gini=0 step_ns=100 parallel_efficiency=0.4 "
      "communication_efficiency=0.4"},
     "= ranks=2 steps=1 partial_steps=0"},
    /* Two ranks compute 10 and 11 ns. Mean 10.5, shown as 11; maximum - mean 0.5, shown as 1;
     * imbalance 100 (11/10.5 - 1) = 4.761904762 %; load balance 10.5/11 = 0.9545454545; cov
     * 0.5/10.5 = 0.04761904762; gini (-10 + 11) / (2 x 21) = 0.02380952381; efficiencies 10.5/50 =
     * 0.21 and 11/50 = 0.22. A single rank is neither balanced nor imbalanced. */
    {{"rank=0 step=1 window_ns=50 compute_ns=10", "rank=1 step=1 window_ns=50 compute_ns=11",
      "rank=1 step=2 window_ns=20 compute_ns=5"},
     {"step=1 mean_compute_ns=11 max_compute_ns=11 max_rank=1 imbalance_pct=4.761904762 "
      "imbalance_ns=1 load_balance=0.9545454545 cov=0.04761904762 gini=0.02380952381 step_ns=50 "
      "parallel_efficiency=0.21 communication_efficiency=0.22",
      "step=2 mean_compute_ns=5 max_compute_ns=5 max_rank=1 imbalance_pct=null imbalance_ns=null "
      "load_balance=null cov=null gini=null step_ns=20 parallel_efficiency=0.25 "
      "communication_efficiency=0.25"},
     /* rank 0 lacks step 2: the job has only step 1 */
     "= ranks=2 steps=1 partial_steps=0"},
    /* Both ranks have steps 1 and 3. Rank 0 computes 10 + 30 = 40 of 50 + 50 ns, rank 4 30 + 20 =
     * 50 of 60 + 20. Mean 45, maximum 50, imbalance 100 (50/45 - 1) = 11.11111111 % and 5 ns, load
     * balance 0.9; cov 5/45 = 0.1111111111; gini 10 / (2 x 90) = 0.05555555556; efficiencies
     * 45/100, 50/100.
     * Step 1: 10 and 30: mean 20, maximum 30, 50 % and 10 ns, 0.6666666667; cov 10/20; gini 20/(2 x
     * 40) = 0.25; 20/60, 30/60. Step 2: only rank 0. Step 3: 30 and 20: mean 25, maximum 30 on rank
     * 0, 20 % and 5 ns, 0.8333333333; cov 5/25; gini 10/(2 x 50) = 0.1; 25/50, 30/50. */
    {{"rank=0 step=1 window_ns=50 compute_ns=10", "rank=0 step=2 window_ns=40 compute_ns=40",
      "rank=0 step=3 window_ns=50 compute_ns=30", "rank=4 step=1 window_ns=60 compute_ns=30",
      "rank=4 step=3 window_ns=20 compute_ns=20"},
     {"step=1 mean_compute_ns=20 max_compute_ns=30 max_rank=4 imbalance_pct=50 imbalance_ns=10 "
      "load_balance=0.6666666667 cov=0.5 gini=0.25 step_ns=60 parallel_efficiency=0.3333333333 "
      "communication_efficiency=0.5",
      "step=2 mean_compute_ns=40 max_compute_ns=40 max_rank=0 imbalance_pct=null imbalance_ns=null "
      "load_balance=null cov=null gini=null step_ns=40 parallel_efficiency=1 "
      "communication_efficiency=1",
      "step=3 mean_compute_ns=25 max_compute_ns=30 max_rank=0 imbalance_pct=20 imbalance_ns=5 "
      "load_balance=0.8333333333 cov=0.2 gini=0.1 step_ns=50 parallel_efficiency=0.5 "
      "communication_efficiency=0.6"},
     "mean_compute_ns=45 max_compute_ns=50 max_rank=4 imbalance_pct=11.11111111 imbalance_ns=5 "
     "load_balance=0.9 cov=0.1111111111 gini=0.05555555556 step_ns=100 parallel_efficiency=0.45 "
     "communication_efficiency=0.5 ranks=2 steps=2 partial_steps=0"},
    /* No rank computes: ratios over compute time have a denominator of 0. */
    {{"rank=0 step=0 window_ns=10 compute_ns=0", "rank=1 step=0 window_ns=20 compute_ns=0"},
     {"step=0 mean_compute_ns=0 max_compute_ns=0 max_rank=0 imbalance_pct=null imbalance_ns=0 "
      "load_balance=null cov=null gini=null step_ns=20 parallel_efficiency=0 "
      "communication_efficiency=0"},
     "= ranks=2 steps=1 partial_steps=0"},
    /* One of four computes, for 8 ns. gini (3 x 8) / (4 x 8) = 0.75. cov: deviations 6, -2, -2, -2
     * have the mean square 48 / 4 = 12, root 3.464101615; it is divided by the mean 2. */
    {{"rank=0 step=0 window_ns=10 compute_ns=0", "rank=1 step=0 window_ns=10 compute_ns=8",
      "rank=2 step=0 window_ns=10 compute_ns=0", "rank=3 step=0 window_ns=10 compute_ns=0"},
     {"step=0 mean_compute_ns=2 max_compute_ns=8 max_rank=1 imbalance_pct=300 imbalance_ns=6 "
      "load_balance=0.25 cov=1.732050808 gini=0.75 step_ns=10 parallel_efficiency=0.2 "
      "communication_efficiency=0.8"},
     "= ranks=4 steps=1 partial_steps=0"},
    /* Rank 0 has step 0 in two of its traces, and computes 10 + 20 of 50 + 60 ns. Rank 1
     * computes 10. Mean 20, max 30: 50 %, 10 ns, 2/3; cov 10/20; gini 20/(2 x 40); efficiencies
     * 20/110, 30/110 */
    {{"rank=0 step=0 window_ns=50 compute_ns=10", "rank=0 step=0 window_ns=60 compute_ns=20",
      "rank=1 step=0 window_ns=50 compute_ns=10"},
     {"step=0 mean_compute_ns=20 max_compute_ns=30 max_rank=0 imbalance_pct=50 imbalance_ns=10 "
      "load_balance=0.6666666667 cov=0.5 gini=0.25 step_ns=110 parallel_efficiency=0.1818181818 "
      "communication_efficiency=0.2727272727"},
     "= ranks=2 steps=1 partial_steps=0"},
    /* No step is common to all ranks: the job has no row. */
    {{"rank=0 step=0 window_ns=10 compute_ns=5", "rank=1 step=1 window_ns=10 compute_ns=5"},
     {"step=0 mean_compute_ns=5 max_compute_ns=5 max_rank=0 imbalance_pct=null imbalance_ns=null "
      "load_balance=null cov=null gini=null step_ns=10 parallel_efficiency=0.5 "
      "communication_efficiency=0.5",
      "step=1 mean_compute_ns=5 max_compute_ns=5 max_rank=1 imbalance_pct=null imbalance_ns=null "
      "load_balance=null cov=null gini=null step_ns=10 parallel_efficiency=0.5 "
      "communication_efficiency=0.5"},
     NULL},
    /* Partial steps do not count: rank 0's step 0, rank 1's step 2, all steps of rank 2, and rank
     * 3, whose trace was cut short. Step 1 is left: the ranks compute 10 and 30 of 60 ns. */
    {{"rank=0 step=0 window_ns=20 partial=true compute_ns=9",
      "rank=0 step=1 window_ns=50 compute_ns=10", "rank=0 step=2 window_ns=50 compute_ns=10",
      "rank=1 step=1 window_ns=60 compute_ns=30",
      "rank=1 step=2 window_ns=9 partial=true compute_ns=1",
      "rank=2 step=1 window_ns=20 partial=true compute_ns=1",
      "rank=3 step=0 window_ns=90 compute_ns=90", "rank=3 truncated=true"},
     {"step=1 mean_compute_ns=20 max_compute_ns=30 max_rank=1 imbalance_pct=50 imbalance_ns=10 "
      "load_balance=0.6666666667 cov=0.5 gini=0.25 step_ns=60 parallel_efficiency=0.3333333333 "
      "communication_efficiency=0.5",
      "step=2 mean_compute_ns=10 max_compute_ns=10 max_rank=0 imbalance_pct=null imbalance_ns=null "
      "load_balance=null cov=null gini=null step_ns=50 parallel_efficiency=0.2 "
      "communication_efficiency=0.2"},
     "= ranks=2 steps=1 partial_steps=3"},
    /* A truncated rank counts if fewer than two ranks would remain without it. */
    {{"rank=0 step=1 window_ns=60 compute_ns=10", "rank=1 step=1 window_ns=60 compute_ns=30",
      "rank=1 truncated=true"},
     {NULL},
     "mean_compute_ns=20 max_compute_ns=30 max_rank=1 imbalance_pct=50 imbalance_ns=10 "
     "load_balance=0.6666666667 cov=0.5 gini=0.25 step_ns=60 parallel_efficiency=0.3333333333 "
     "communication_efficiency=0.5 ranks=2 steps=1 partial_steps=0"},
    /* Rank 2 is left out, because its moves_pct is above 5: it may have computed. */
    {{"rank=0 step=1 window_ns=60 compute_ns=10", "rank=1 step=1 window_ns=60 compute_ns=30",
      "rank=2 step=1 window_ns=60 compute_ns=0", "rank=2 moves_pct=6"},
     {NULL},
     "mean_compute_ns=20 max_compute_ns=30 max_rank=1 imbalance_pct=50 imbalance_ns=10 "
     "load_balance=0.6666666667 cov=0.5 gini=0.25 step_ns=60 parallel_efficiency=0.3333333333 "
     "communication_efficiency=0.5 ranks=2 steps=1 partial_steps=0"},
    /* A rank is not compared with a rank without GPU events. */
    {{"rank=0 step=1 window_ns=60 compute_ns=30", "rank=1 step=1 window_ns=0 compute_ns=0"},
     {NULL},
     "mean_compute_ns=30 max_compute_ns=30 max_rank=0 imbalance_pct=null imbalance_ns=null "
     "load_balance=null cov=null gini=null step_ns=60 parallel_efficiency=0.5 "
     "communication_efficiency=0.5 ranks=1 steps=1 partial_steps=0"},
    /* No rank has GPU events, or there is no rank. */
    {{"rank=0 step=0 window_ns=0 compute_ns=0"}, {NULL}, NULL},
    {{NULL}, {NULL}, NULL},
};

static tm_tables tables_of(const job_case *c) {
    const tm_job job = {.n_ranks = 3, .world_size = -1};
    tm_tables tables = open_tables();
    tm_error err;
    for (size_t i = 0; i < ROWS && c->loads[i]; i++)
        add_row(&tables,
                strstr(c->loads[i], "truncated") ? "job.rank"
                : strstr(c->loads[i], "moves")   ? "job.integrity"
                                                 : "overlap.step",
                c->loads[i]);
    assert_int_equal(tm_analysis_imbalance.job(&job, &tables, &err), TM_OK);
    return tables;
}

TEST(imbalance_is_as_worked_out_by_hand) {
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_tables tables = tables_of(&cases[i]);
        const tm_table *steps = tm_tables_find(&tables, "imbalance.step");
        const tm_table *job = tm_tables_find(&tables, "imbalance.job");
        size_t n = 0;
        for (; n < STEPS && cases[i].steps[n]; n++)
            assert_row(steps, n, cases[i].steps[n]);
        assert_true(n == 0 || steps->n_rows == n);
        assert_int_equal(job->n_rows, cases[i].job != NULL);
        const char *more = cases[i].job, *own = strchr(n ? cases[i].steps[0] : " ", ' ') + 1;
        char expected[512];
        if (more) {
            bool same = *more == '=';
            snprintf(expected, sizeof expected, "%s%s", same ? own : "", same ? more + 1 : more);
            assert_row(job, 0, expected);
        }
        tm_tables_destroy(&tables);
    }
}

static double real(const tm_table *table, const char *column) {
    return tm_table_cell(table, 0, column)->value.r;
}

TEST(ratios_are_exact_where_means_are_rounded) {
    /* 1 and 2: the mean is 1.5, shown as 2 */
    static const job_case c = {
        {"rank=0 step=0 window_ns=3 compute_ns=1", "rank=1 step=0 window_ns=3 compute_ns=2"},
        {NULL},
        NULL};
    tm_tables tables = tables_of(&c);
    const tm_table *table = tm_tables_find(&tables, "imbalance.job");
    assert_int_equal(tm_table_cell(table, 0, "mean_compute_ns")->value.i, 2);
    assert_true(fabs(real(table, "imbalance_pct") - 100.0 / 3.0) < 1e-12);
    assert_true(real(table, "load_balance") == 0.75);
    assert_true(real(table, "parallel_efficiency") == 0.5);
    assert_true(fabs(real(table, "communication_efficiency") - 2.0 / 3.0) < 1e-15);
    tm_tables_destroy(&tables);
}

RUN_TESTS()
