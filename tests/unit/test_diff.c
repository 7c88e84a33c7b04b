/* Differences between two jobs: small tables computed by hand. */
#include <math.h>

#include "diff/sample.h"
#include "rows_fixture.h"
#include "tmerge/analysis.h"
#include "tmerge/diff.h"

/* Adds a rank whose steps, from number 3 on, compute for their whole length ms[i]. */
static void add_rank(tm_tables *tables, int rank, const int *ms, int n) {
    add_rowf(tables, "job.rank", "rank=%d format=kineto", rank);
    add_rowf(tables, "overview.rank", "rank=%d steps=%d", rank, n);
    for (int i = 0; i < n; i++) {
        add_rowf(tables, "overview.step", "rank=%d step=%d step_ns=%d000000", rank, i + 3, ms[i]);
        /* communication has a median of 10 ms, and four times the deviations */
        add_rowf(tables, "overlap.step",
                 "rank=%d step=%d partial=false compute_ns=%d000000 comm_ns=%d000000", rank, i + 3,
                 ms[i], 10 + 4 * (ms[i] - 100));
    }
}

static tm_tables make_job(int n_ranks, const int *ms, int n) {
    tm_tables tables = open_tables();
    add_rowf(&tables, "job.job", "ranks=%d hosts=1", n_ranks);
    for (int rank = 0; rank < n_ranks; rank++)
        add_rank(&tables, rank, ms, n);
    return tables;
}

static tm_tables compare(tm_tables *a, tm_tables *b) {
    const tm_diff_side sides[2] = {{"a.h5", a}, {"b.h5", b}};
    tm_tables found;
    tm_error err;
    assert_int_equal(tm_diff_compare(sides, &found, &err), TM_OK);
    return found;
}

static void destroy(tm_tables *a, tm_tables *b, tm_tables *found) {
    tm_tables_destroy(a);
    tm_tables_destroy(b);
    tm_tables_destroy(found);
}

static size_t find(const tm_tables *tables, const char *name, const char *key) {
    const tm_table *table = tm_tables_find(tables, name);
    const char *column = tm_table_column(table->def, "figure") < 0 ? "name" : "figure";
    for (size_t i = 0; i < table->n_rows; i++)
        if (strcmp(tm_table_cell(table, i, column)->value.text, key) == 0)
            return i;
    fail_msg("%s has no %s", name, key);
    return 0;
}

static const tm_cell *cell(const tm_tables *tables, const char *name, const char *key,
                           const char *column) {
    return tm_table_cell(tm_tables_find(tables, name), find(tables, name, key), column);
}

static void assert_verdict(const tm_tables *tables, const char *name, const char *key,
                           const char *expected) {
    const char *found = cell(tables, name, key, "verdict")->value.text;
    if (strcmp(found, expected) != 0)
        fail_msg("%s %s is %s, not %s", name, key, found, expected);
}

static void assert_diagnostic(const tm_tables *tables, size_t place, const char *expected) {
    const tm_table *diagnostics = tm_tables_find(tables, "diff.remark");
    if (place >= diagnostics->n_rows)
        fail_msg("there is no remark %zu: %s", place, expected);
    assert_string_equal(tm_table_cell(diagnostics, place, "text")->value.text, expected);
}

/* The median is 100. Of the deviations 0, 0, 1, 1, 2 the fourth, 1, is the third quartile. So two
 * such jobs may differ by 3 (1 + 4/5) x 1.2533 / 1.1503 x 1 x sqrt(1/5 + 1/5) = 3.721069 ms. */
static const int steady[] = {100, 100, 101, 99, 102};
#define NOISE 3.721069

TEST(a_sample_is_the_median_over_steps_of_the_mean_over_ranks) {
    tm_tables tables = open_tables();
    /* The means over ranks are 110, 100, 140, and 200 for rank 0 only. Their median is (110 + 140)
     * / 2 = 125, and the third of the deviations 15, 15, 25, 75 is 25. */
    static const int ns[2][4] = {{100, 90, 130, 200}, {120, 110, 150, 20}};
    for (int rank = 0; rank < 2; rank++)
        for (int step = 0; step < 4; step++) {
            add_rowf(&tables, "overview.step", "rank=%d step=%d step_ns=%d", rank, step,
                     ns[rank][step]);
            add_rowf(&tables, "overlap.step", "rank=%d step=%d partial=%s", rank, step,
                     rank == 1 && step == 3 ? "true" : "false");
        }
    tm_sample s;
    tm_error err;
    assert_int_equal(tm_sample_take(&tables, "overview.step", "step_ns",
                                    (tm_sample_ranks){.roles = NULL}, &s, &err),
                     TM_OK);
    assert_int_equal(s.n, 4);
    assert_true(s.middle == 125.0 && s.spread == 25.0);
    /* 3 (1 + 4/4) x 1.0895419 x 25 x sqrt(1/4 + 1/4) = 115.5634 */
    assert_true(fabs(tm_sample_noise(&s, &s) - 115.5634) < 0.001);
    const tm_sample one = {.middle = 7, .spread = 0, .n = 1}, none = {0};
    /* 3 (1 + 4/1) x 1.0895419 x 25 x sqrt(1 + 1/4) = 456.804: the larger spread counts */
    assert_true(fabs(tm_sample_noise(&one, &s) - 456.804) < 0.01);
    assert_true(tm_sample_noise(&none, &s) == 0.0);
    assert_true(!tm_sample_judges(&one, &s) && tm_sample_judges(&s, &s));
    tm_tables_destroy(&tables);
}

typedef struct step_case {
    int b[5], n;
    const char *verdict, *headline;
} step_case;

#define B_LACKS "B has no step: kernels and operators are compared by their time per call"

TEST(a_change_of_the_step_time_is_real_beyond_noise_alone) {
    static const step_case cases[] = {
        {{110, 110, 111, 109, 112},
         5,
         "higher",
         "B is 10.0 % slower a step: 100.0 ms -> 110.0 ms (noise 3.72 ms)"},
        {{1100, 1100, 1101, 1099, 1102},
         5,
         "higher",
         "B takes 11 times as long a step: 0.10 s -> 1.10 s (noise 3.72 ms)"},
        {{96, 96, 97, 95, 98},
         5,
         "lower",
         "B is 4.0 % faster a step: 100.0 ms -> 96.0 ms (noise 3.72 ms)"},
        {{103, 103, 104, 102, 105},
         5,
         "unclear",
         "No change of the step time beyond noise: 100.0 ms -> 103.0 ms (noise 3.72 ms)"},
        {{200, 200},
         2,
         "too few steps",
         "Too few steps to judge the step time: 100.0 ms -> 200.0 ms"},
        {{100, 100, 101, 99, 102},
         5,
         "same",
         "No difference: everything that was compared is the same"},
        {{0}, 0, "only A", B_LACKS},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_tables a = make_job(1, steady, 5), b = make_job(1, cases[i].b, cases[i].n);
        tm_tables found = compare(&a, &b);
        assert_verdict(&found, "diff.job", "overview.step.step_ns", cases[i].verdict);
        assert_diagnostic(&found, 0, cases[i].headline);
        const tm_cell *noise = cell(&found, "diff.job", "overview.step.step_ns", "noise");
        assert_int_equal(noise->null, cases[i].n < 3);
        if (!noise->null)
            assert_true(fabs(noise->value.r - NOISE * 1e6) < 10.0);
        if (cases[i].n == 2)
            assert_diagnostic(
                &found, 1, "Under 3 whole steps in A or B (5, 2): no change of a time is judged");
        destroy(&a, &b, &found);
    }
}

TEST(the_mean_decides_if_it_changed_otherwise_than_the_median) {
    /* Without the first step: the mean of A is 100, and of B 115. The deviations of B are 15, 15,
     * 15 and 45, so the error is sqrt(2700 / 3 / 4) = 15, for A, too. Student's t of 6 degrees of
     * freedom is 4.3140 by the series: a noise of 4.314 sqrt(2) 15 = 91.5 ms. In the last case,
     * every 4th step takes 20 or 80 ms longer: 100 + 20 / 4 = 105, and 100 + 80 / 4 = 120. */
    static const struct {
        int n, a[13], b[13];
        const char *remarks[4];
    } cases[] = {
        {5,
         {100, 100, 100, 100, 100},
         {100, 100, 100, 100, 160},
         {"It is unknown whether the step time changed, by the mean: 100.0 ms -> 115.0 ms (noise "
          "91.5 ms)",
          "The median step: 100.0 ms -> 100.0 ms; a few odd steps change the mean"}},
        {5,
         {100, 100, 100, 100, 100},
         {102, 102, 102, 102, 162},
         {"B is 2.0 % slower a step: 100.0 ms -> 102.0 ms (noise 0 ns)",
          "The mean step: 100.0 ms -> 117.0 ms; a few odd steps change the mean"}},
        {13,
         {100, 100, 100, 120, 100, 100, 100, 120, 100, 100, 100, 120, 100},
         {100, 100, 100, 180, 100, 100, 100, 180, 100, 100, 100, 180, 100},
         {"B is 14.3 % slower a step, by the mean: 105.0 ms -> 120.0 ms (noise 0 ns)",
          "In A, 1 in 4 steps takes 20.0 ms longer than the others",
          "In B, 1 in 4 steps takes 80.0 ms longer than the others",
          "The median step, which is none of these: 100.0 ms -> 100.0 ms"}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_tables a = make_job(1, cases[i].a, cases[i].n), b = make_job(1, cases[i].b, cases[i].n);
        tm_tables found = compare(&a, &b);
        for (size_t k = 0; k < COUNT(cases[i].remarks) && cases[i].remarks[k]; k++)
            assert_diagnostic(&found, k, cases[i].remarks[k]);
        destroy(&a, &b, &found);
    }
}

TEST(steps_stand_beside_one_another_by_their_place) {
    static const int three[] = {90, 91, 92};
    tm_tables a = make_job(2, steady, 5), b = make_job(2, three, 3);
    tm_tables found = compare(&a, &b);
    const tm_table *steps = tm_tables_find(&found, "diff.step");
    assert_int_equal(steps->n_rows, 5);
    assert_int_equal(tm_table_cell(steps, 2, "a_step")->value.i, 5);
    assert_int_equal(tm_table_cell(steps, 2, "a_ns")->value.i, 101000000);
    assert_int_equal(tm_table_cell(steps, 2, "change_ns")->value.i, -9000000);
    assert_true(tm_table_cell(steps, 3, "b_step")->null);
    assert_true(tm_table_cell(steps, 3, "change_ns")->null);
    destroy(&a, &b, &found);
}

TEST(figures_without_steps_change_by_2_percent_or_not_at_all) {
    tm_tables a = make_job(1, steady, 5), b = make_job(2, steady, 5);
    add_row(&a, "overview.job", "tensor_core_pct=50 occupancy_pct=50 sm_efficiency_pct=40");
    add_row(&b, "overview.job", "tensor_core_pct=50.9 occupancy_pct=49");
    /* The GPU with the highest peak counts, not the host's memory. */
    add_row(&a, "memory.device", "rank=0 device=cpu peak_bytes=900");
    add_row(&a, "memory.device", "rank=0 device=cuda:0 peak_bytes=200");
    add_row(&b, "memory.device", "rank=0 device=cuda:0 peak_bytes=100");
    add_row(&b, "memory.device", "rank=1 device=cuda:1 peak_bytes=200");
    /* 10 launches in 5 steps and 20 in 10 steps of a rank are equal per step. */
    add_row(&a, "launches.rank", "rank=0 launches=10");
    add_row(&b, "launches.rank", "rank=0 launches=15");
    add_row(&b, "launches.rank", "rank=1 launches=5");
    tm_tables found = compare(&a, &b);
    assert_verdict(&found, "diff.job", "overview.job.tensor_core_pct", "unclear");
    assert_verdict(&found, "diff.job", "overview.job.occupancy_pct", "lower");
    assert_verdict(&found, "diff.job", "overview.job.sm_efficiency_pct", "only A");
    assert_verdict(&found, "diff.job", "memory.device.peak_bytes", "same");
    assert_verdict(&found, "diff.job", "launches.rank.launches", "same");
    assert_verdict(&found, "diff.job", "job.job.ranks", "higher");
    assert_true(cell(&found, "diff.job", "launches.rank.launches", "b")->value.r == 2.0);
    assert_true(cell(&found, "diff.job", "job.job.ranks", "change_pct")->value.r == 100.0);
    assert_diagnostic(
        &found, 1,
        "Ranks: 1 in A, 2 in B. Times are means over ranks, whose shares of the work may differ");
    destroy(&a, &b, &found);
}

/* Rows of kernels.kernel of A (one rank, 5 steps) and B (two ranks, 10 steps in all), times in ms.
 * Comments in the rows have times per step. A step computes for 100 ms with a noise of 3.721;
 * communication has 4 times that. */
typedef struct kernel_case {
    const char *name;
    int a_ms, b_ms, a_calls, b_calls;
    bool communication;
    const char *verdict;
    int64_t change_ns;
    double noise_ms; /* -1: null */
} kernel_case;

TEST(kernels_are_compared_by_name_for_each_rank_and_step) {
    static const kernel_case cases[] = {
        /* the largest change first */
        {"gone", 100, 0, 5, 0, false, "removed", -20000000, -1},
        /* 20 against 36 ms, more than the whole noise of 4 x 3.721 = 14.884 */
        {"reduce", 100, 360, 5, 10, true, "slower", 16000000, 14.884274},
        /* 2 against 14 ms, less than the noise, which a small share of comm_ns does not reduce */
        {"gather", 10, 140, 5, 10, true, "unclear", 12000000, 14.884274},
        /* 25 against 30 ms of 100: the noise is sqrt(0.30) x 3.721 = 2.038 */
        {"gemm", 125, 300, 5, 10, false, "slower", 5000000, 2.038113},
        {"fused", 0, 40, 0, 10, false, "added", 4000000, -1},
        /* 16 against 14 ms: sqrt(0.16) x 3.721 = 1.488 */
        {"conv", 80, 140, 5, 10, false, "faster", -2000000, 1.488427},
        /* 4 against 4.5 ms: sqrt(0.045) x 3.721 = 0.789 */
        {"relu", 20, 45, 5, 10, false, "unclear", 500000, 0.789358},
        /* equal in time, but two calls a step instead of one */
        {"copy", 5, 10, 5, 20, false, "more calls", 0, 0.372107},
        {"same", 10, 20, 5, 10, false, "same", 0, 0.526239},
    };
    tm_tables a = make_job(1, steady, 5), b = make_job(2, steady, 5);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const kernel_case *c = &cases[i];
        char text[160];
        for (int side = 0; side < 2; side++) {
            int calls = side ? c->b_calls : c->a_calls;
            snprintf(text, sizeof text, "name=%s calls=%d total_ns=%d000000 communication=%s",
                     c->name, calls, side ? c->b_ms : c->a_ms, c->communication ? "true" : "false");
            if (calls > 0)
                add_row(side ? &b : &a, "kernels.kernel", text);
        }
    }
    tm_tables found = compare(&a, &b);
    assert_int_equal(tm_tables_find(&found, "diff.kernel")->n_rows, COUNT(cases));
    for (size_t i = 0; i < COUNT(cases); i++) {
        const kernel_case *c = &cases[i];
        assert_int_equal(find(&found, "diff.kernel", c->name), i);
        assert_verdict(&found, "diff.kernel", c->name, c->verdict);
        assert_int_equal(cell(&found, "diff.kernel", c->name, "change_ns")->value.i, c->change_ns);
        const tm_cell *noise = cell(&found, "diff.kernel", c->name, "noise_ns");
        assert_int_equal(noise->null, c->noise_ms < 0);
        if (!noise->null && fabs((double)noise->value.i - c->noise_ms * 1e6) > 5.0)
            fail_msg("noise of %s is %lld", c->name, (long long)noise->value.i);
    }
    assert_true(cell(&found, "diff.kernel", "copy", "a_calls")->value.r == 1.0);
    assert_true(cell(&found, "diff.kernel", "copy", "b_calls")->value.r == 2.0);
    assert_true(cell(&found, "diff.kernel", "fused", "change_pct")->null);
    destroy(&a, &b, &found);
}

TEST(with_too_few_steps_kernels_are_added_and_removed_but_not_slower) {
    tm_tables a = make_job(1, steady, 5), b = make_job(1, steady, 2);
    add_row(&a, "kernels.kernel", "name=gemm calls=5 total_ns=100000000 communication=false");
    add_row(&b, "kernels.kernel", "name=gemm calls=2 total_ns=90000000 communication=false");
    add_row(&b, "kernels.kernel", "name=new calls=2 total_ns=2 communication=false");
    /* one name, as two demanglers write it */
    add_row(&a, "kernels.kernel", "name=k<512,8ul,true> calls=5 total_ns=5 communication=false");
    add_row(&b, "kernels.kernel",
            "name=k<(int)512,(long)8,(bool)1> calls=2 total_ns=2 communication=false");
    tm_tables found = compare(&a, &b);
    assert_verdict(&found, "diff.kernel", "k<512,8ul,true>", "same");
    assert_verdict(&found, "diff.kernel", "gemm", "too few steps");
    assert_verdict(&found, "diff.kernel", "new", "added");
    assert_true(cell(&found, "diff.kernel", "gemm", "noise_ns")->null);
    destroy(&a, &b, &found);
}

/* A has two ranks with a step each, B has no step. Sums depend on what was recorded, calls do
 * not. */
TEST(with_fewer_than_two_steps_names_are_compared_by_call) {
    static const struct {
        const char *name, *a, *b, *verdict;
        int64_t a_ns, b_ns;
    } cases[] = {
        /* a call takes 2 us more; a rank of A makes 5, so with 10 us this is the largest change */
        {"often", "calls=10 total_ns=100000", "calls=40 total_ns=480000", "differs", 10000, 12000},
        /* a call takes 4 us more; a rank of A makes half a call, so the change is only 2 us */
        {"rare", "calls=1 total_ns=20000", "calls=9 total_ns=216000", "differs", 20000, 24000},
        /* a call takes 1 % more, less than 2 % */
        {"near", "calls=1 total_ns=100000", "calls=2 total_ns=202000", "unclear", 100000, 101000},
        {"longer", "calls=2 total_ns=6000", "calls=20 total_ns=60000", "same", 3000, 3000},
    };
    tm_tables a = make_job(2, steady, 1), b = make_job(1, steady, 0);
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int side = 0; side < 2; side++) {
            add_rowf(side ? &b : &a, "kernels.kernel", "name=%s communication=false %s",
                     cases[i].name, side ? cases[i].b : cases[i].a);
        }
    /* on the host, 9 / 3 = 3 and 8 / 2 = 4 us a call */
    add_row(&a, "calls.call", "level=operator name=item calls=3 host_self_ns=9000");
    add_row(&b, "calls.call", "level=operator name=item calls=2 host_self_ns=8000");
    tm_tables found = compare(&a, &b);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *name = cases[i].name;
        assert_int_equal(find(&found, "diff.kernel", name), i);
        assert_verdict(&found, "diff.kernel", name, cases[i].verdict);
        assert_int_equal(cell(&found, "diff.kernel", name, "a_ns")->value.i, cases[i].a_ns);
        assert_int_equal(cell(&found, "diff.kernel", name, "b_ns")->value.i, cases[i].b_ns);
        assert_string_equal(cell(&found, "diff.kernel", name, "per")->value.text, "call");
    }
    assert_true(cell(&found, "diff.kernel", "often", "a_calls")->value.r == 5.0);
    assert_verdict(&found, "diff.operator", "item", "differs");
    assert_int_equal(cell(&found, "diff.operator", "item", "host_change_ns")->value.i, 1000);
    assert_diagnostic(&found, 0, B_LACKS);
    destroy(&a, &b, &found);
}

TEST(operators_without_device_time_are_judged_on_the_host) {
    /* A step of a rank takes 10 us in A. 10 % is the usual variation of host times. */
    static const struct {
        const char *name, *b, *verdict;
    } cases[] = {
        {"view", "host_self_ns=55000", "unclear"}, /* 11 us: a change of 1, below 1.1 */
        {"item", "host_self_ns=60000", "slower"},  /* 12 us: a change of 2, above 1.2 */
        /* Ranks differ by 5 us a step: 2 is not significant. */
        {"cat", "host_self_ns=60000 host_min_ns=0 host_max_ns=25000", "unclear"},
    };
    tm_tables a = make_job(1, steady, 5), b = make_job(1, steady, 5);
    for (size_t i = 0; i < COUNT(cases); i++) {
        add_rowf(&a, "calls.call", "level=operator name=%s calls=5 host_self_ns=50000",
                 cases[i].name);
        add_rowf(&b, "calls.call", "level=operator name=%s calls=5 %s", cases[i].name, cases[i].b);
    }
    tm_tables found = compare(&a, &b);
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_verdict(&found, "diff.operator", cases[i].name, cases[i].verdict);
    assert_int_equal(cell(&found, "diff.operator", "item", "host_change_ns")->value.i, 2000);
    destroy(&a, &b, &found);
}

TEST(an_operator_beyond_a_full_list_is_not_called_removed) {
    for (int listed = 999; listed <= 1000; listed++) {
        tm_tables a = make_job(1, steady, 5), b = make_job(1, steady, 5);
        add_row(&a, "calls.call", "level=operator name=mine calls=5 device_self_ns=5000000");
        for (int i = 0; i < listed; i++) {
            add_rowf(&b, "calls.call", "level=operator name=op%d calls=5 device_self_ns=5000", i);
        }
        tm_tables found = compare(&a, &b);
        assert_verdict(&found, "diff.operator", "mine", listed == 999 ? "removed" : "unclear");
        assert_verdict(&found, "diff.operator", "op7", "added");
        destroy(&a, &b, &found);
    }
}

TEST(an_operator_that_communicates_has_the_noise_of_communication) {
    tm_tables a = make_job(1, steady, 5), b = make_job(1, steady, 5);
    for (int side = 0; side < 2; side++) {
        const char *names[] = {"aten::mm", "nccl:all_reduce"};
        for (int i = 0; i < 2; i++) {
            add_rowf(side ? &b : &a, "calls.call",
                     "level=operator name=%s calls=5 device_self_ns=%d", names[i],
                     side ? 100000000 : 50000000);
        }
    }
    tm_tables found = compare(&a, &b);
    assert_verdict(&found, "diff.operator", "aten::mm", "slower");
    assert_verdict(&found, "diff.operator", "nccl:all_reduce", "unclear");
    destroy(&a, &b, &found);
}

TEST(ranks_of_equal_communication_are_of_one_role) {
    /* 26 and 24 sends in 5 steps are both rounded to five a step; 50 are ten. */
    static const char *const kinds[] = {
        "rank=0 kind=send count=26", "rank=1 kind=send count=24", "rank=2 kind=send count=50",
        "rank=3 kind=recv count=25", "rank=4 kind=send count=25",
    };
    tm_tables a = make_job(6, steady, 5), b = make_job(6, steady, 5);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        add_row(&a, "overlap.kind", kinds[i]);
        add_row(&b, "overlap.kind", kinds[i]);
    }
    tm_roles roles;
    tm_error err;
    assert_int_equal(tm_roles_find(&a, &roles, &err), TM_OK);
    static const int expected[] = {0, 0, 1, 2, 0, 3};
    char list[16], shorter[10];
    for (int rank = 0; rank < 6; rank++)
        assert_int_equal(tm_roles_of(&roles, rank), expected[rank]);
    assert_int_equal(tm_roles_of(&roles, 6), -1);
    tm_roles_list(&roles, 0, list, sizeof list);
    assert_string_equal(list, "0-1,4");
    tm_roles_list(&roles, 0, shorter, 8);
    assert_string_equal(shorter, "0-1,...");
    tm_roles_free(&roles);
    tm_tables found = compare(&a, &b);
    const tm_table *ranks = tm_tables_find(&found, "diff.rank");
    const tm_cell *last = tm_table_row(ranks, ranks->n_rows - 1);
    assert_int_equal(last[0].value.i, 3);
    assert_string_equal(last[1].value.text, "5");
    destroy(&a, &b, &found);
}

TEST(with_other_roles_all_ranks_are_one) {
    tm_tables a = make_job(2, steady, 5), b = make_job(2, steady, 5);
    add_row(&a, "overlap.kind", "rank=0 kind=send count=5");
    tm_tables found = compare(&a, &b);
    const tm_table *ranks = tm_tables_find(&found, "diff.rank");
    for (size_t i = 0; i < ranks->n_rows; i++)
        assert_string_equal(tm_table_cell(ranks, i, "a_ranks")->value.text, "0-1");
    assert_diagnostic(
        &found, 1, "Roles of ranks: 2 in A, 1 in B. Figures by role treat all ranks as one role");
    destroy(&a, &b, &found);
}

TEST(diagnostics_name_other_formats_and_stragglers) {
    tm_tables a = make_job(1, steady, 5), b = make_job(1, steady, 5);
    add_row(&a, "stragglers.job", "verdict=persistent rank=3");
    add_row(&b, "stragglers.job", "verdict=inconclusive");
    add_row(&b, "job.rank", "rank=1 format=xplane");
    add_row(&a, "whatif.job", "slowdown=1.2 sure=false");
    add_row(&a, "whatif.item", "what=plan name=1,2 saved_pct=5.9");
    add_row(&b, "whatif.job", "sure=false"); /* the slowdown is unknown */
    add_row(&a, "efficiency.rank", "rank=0 device=V100");
    add_row(&b, "efficiency.rank", "rank=0 device=H100");
    add_row(&b, "efficiency.rank", "rank=1 device=H10");
    for (int i = 0; i < 3; i++)
        add_rowf(&b, "kernels.kernel", "name=only%d", i);
    tm_tables found = compare(&a, &b);
    assert_diagnostic(
        &found, 1, "A's traces are kineto, B's kineto,xplane: names and recorded data may differ");
    assert_diagnostic(&found, 2,
                      "A ran on V100, B on H100,H10: a change may be due to the devices");
    assert_diagnostic(&found, 3, "Rank 3 makes the other ranks wait in A, not in B");
    assert_diagnostic(&found, 4,
                      "Only 0 of 3 kernel names are in both: A and B may run different programs");
    assert_diagnostic(&found, 5,
                      "In A fixing ranks 1,2 may save 5.9 % of a step, in B it is unknown what "
                      "fixing a rank saves");
    assert_int_equal(tm_tables_find(&found, "diff.remark")->n_rows, 6);
    destroy(&a, &b, &found);
}

TEST(empty_stores_compare) {
    tm_tables a = open_tables(), b = open_tables(), found = compare(&a, &b);
    assert_diagnostic(&found, 0, "No difference: everything that was compared is the same");
    assert_int_equal(tm_tables_find(&found, "diff.side")->n_rows, 2);
    destroy(&a, &b, &found);
}

TEST(tables_are_named_and_every_column_is_defined) {
    size_t n;
    const tm_table_def *const *defs = tm_diff_defs(&n);
    for (size_t t = 0; t < n; t++) {
        assert_int_equal(strncmp(defs[t]->name, "diff.", 5), 0);
        assert_in_range(defs[t]->n_keys, 1, defs[t]->n_columns);
        for (int c = 0; c < defs[t]->n_columns; c++) {
            const tm_column *column = &defs[t]->columns[c];
            size_t size = strlen(column->name);
            assert_int_equal(column->doc[strlen(column->doc) - 1], '.');
            assert_int_equal(strcmp(column->unit, "ns") == 0,
                             size > 3 && strcmp(column->name + size - 3, "_ns") == 0);
        }
    }
}

RUN_TESTS()
