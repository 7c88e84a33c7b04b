/* From waits to a verdict. */
#include "analysis/stragglers/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { RANKS = 3, STEPS = 6 };

static void verdicts_have_words(void **state) {
    (void)state;
    assert_string_equal(tm_verdict_word(TM_VERDICT_NONE), "none");
    assert_string_equal(tm_verdict_word(TM_VERDICT_INCONCLUSIVE), "inconclusive");
    assert_string_equal(tm_verdict_word(TM_VERDICT_PERSISTENT), "persistent");
    assert_string_equal(tm_verdict_word(TM_VERDICT_ROTATING), "rotating");
    assert_string_equal(tm_culprit_word(TM_CULPRIT_RANK), "rank");
    assert_string_equal(tm_culprit_word(TM_CULPRIT_HOST), "host");
    assert_string_equal(tm_culprit_word(TM_CULPRIT_GROUP), "group");
}

static void tolls_of_a_rank_add_up(void **state) {
    (void)state;
    const tm_toll one = {.rank = 3,
                         .step = 9,
                         .collectives = 1,
                         .last = 2,
                         .tied = 4,
                         .untied = 8,
                         .wait_ns = 16,
                         .lateness_ns = 32,
                         .doubt_ns = 3,
                         .caused = {64, (uint64_t)1 << 39},
                         .passed_ns = 128,
                         .indirect_ns = 256,
                         .expected = 0.5,
                         .variance = 0.25};
    tm_toll sum = {.rank = 3, .step = -1};
    tm_toll_add(&sum, &one);
    tm_toll_add(&sum, &one);
    assert_int_equal(sum.rank, 3);
    assert_int_equal(sum.step, -1);
    assert_int_equal(sum.collectives, 2);
    assert_int_equal(sum.last, 4);
    assert_int_equal(sum.tied, 8);
    assert_int_equal(sum.untied, 16);
    assert_int_equal(sum.wait_ns, 32);
    assert_int_equal(sum.lateness_ns, 64);
    assert_int_equal(sum.doubt_ns, 6);
    assert_int_equal(sum.caused.whole_ns, 129); /* two halves carry */
    assert_int_equal(sum.caused.fraction, 0);
    assert_int_equal(sum.passed_ns, 256);
    assert_int_equal(sum.indirect_ns, 512);
    assert_true(sum.expected == 1.0 && sum.variance == 0.5);
}

static void cost_is_what_was_caused_without_what_was_passed_on(void **state) {
    (void)state;
    /* 64.5 - 60 = 4.5, and 256 through others */
    const tm_toll toll = {.caused = {64, (uint64_t)1 << 39}, .passed_ns = 60, .indirect_ns = 256};
    assert_int_equal(tm_toll_direct(&toll).whole_ns, 4);
    assert_int_equal(tm_toll_direct(&toll).fraction, (uint64_t)1 << 39);
    assert_int_equal(tm_toll_cost(&toll).whole_ns, 260);
    assert_int_equal(tm_toll_cost(&toll).fraction, (uint64_t)1 << 39);
}

static void the_leader_of_a_step_cost_the_most(void **state) {
    (void)state;
    static const tm_toll tolls[] = {
        /* outside of every step */
        {.step = -1, .rank = 0, .caused = {100, 0}},
        /* step 2: the largest; 4 is larger by a fraction alone */
        {.step = 2, .rank = 1, .caused = {7, 5}, .lateness_ns = 1},
        {.step = 2, .rank = 3, .caused = {3, 9}, .lateness_ns = 2},
        {.step = 2, .rank = 4, .caused = {7, 6}, .lateness_ns = 3},
        /* step 5: equal ones, the lowest; 7.5 is rounded up */
        {.step = 5, .rank = 0, .caused = {6, 0}, .lateness_ns = 4},
        {.step = 5, .rank = 2, .caused = {7, (uint64_t)1 << 39}, .lateness_ns = 5},
        {.step = 5, .rank = 9, .caused = {7, (uint64_t)1 << 39}, .lateness_ns = 6},
        /* step 6: nobody waited, though there were collectives */
        {.step = 6, .rank = 0, .collectives = 3},
        {.step = 6, .rank = 1, .collectives = 3},
        /* step 8: a fraction is enough */
        {.step = 8, .rank = 1, .lateness_ns = 7},
        {.step = 8, .rank = 2, .caused = {0, 1}, .lateness_ns = 8},
        /* step 9: 9 - 5 = 4, 1 + 4 = 5, and 0 + 2 */
        {.step = 9, .rank = 0, .caused = {9, 0}, .passed_ns = 5, .lateness_ns = 9},
        {.step = 9, .rank = 1, .caused = {1, 0}, .indirect_ns = 4, .lateness_ns = 10},
        {.step = 9, .rank = 2, .indirect_ns = 2},
        /* step 10: what was caused in parts is passed on whole, and rounds to nothing */
        {.step = 10, .rank = 0, .caused = {4, ((uint64_t)1 << 40) - 1}, .passed_ns = 5},
        {.step = 10, .rank = 1, .caused = {0, 0}, .indirect_ns = 5},
    };
    static const tm_leader expected[] = {{2, 4, 7, 7, 0, 3},
                                         {5, 2, 8, 8, 0, 5},
                                         {8, 2, 0, 0, 0, 8},
                                         {9, 1, 1, 1, 4, 10},
                                         {10, 1, 0, 0, 5, 0}};
    tm_leader leaders[COUNT(tolls)];
    assert_int_equal(tm_verdict_leaders(tolls, COUNT(tolls), leaders), COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_int_equal(leaders[i].step, expected[i].step);
        assert_int_equal(leaders[i].rank, expected[i].rank);
        assert_int_equal(leaders[i].caused_ns, expected[i].caused_ns);
        assert_int_equal(leaders[i].direct_ns, expected[i].direct_ns);
        assert_int_equal(leaders[i].indirect_ns, expected[i].indirect_ns);
        assert_int_equal(leaders[i].lateness_ns, expected[i].lateness_ns);
    }
    assert_int_equal(tm_verdict_leaders(NULL, 0, leaders), 0);
}

/* A job of three ranks. With 16 untied collectives of which 4 are expected, z is
 * (last - 4) / sqrt(variance); the tables take a variance of 4: z = 3 at 10, 3.5 at 11. */
typedef struct trial {
    int64_t wait_ns, window_ns;
    int64_t caused[RANKS];
    int64_t last[RANKS];
    const char *leaders; /* a digit for each step: who leads it */
    tm_verdict_kind kind;
    int64_t rank, led, most_led;
} trial;

#define NONE TM_VERDICT_NONE
#define INCONCLUSIVE TM_VERDICT_INCONCLUSIVE
#define PERSISTENT TM_VERDICT_PERSISTENT
#define ROTATING TM_VERDICT_ROTATING

static const trial trials[] = {
    /* 1 % is where it begins: 99 and 100 of 10,000 */
    {99, 10000, {0, 9, 0}, {0, 16, 0}, "1111", NONE, 1, 4, 4},
    {100, 10000, {0, 9, 0}, {0, 16, 0}, "1111", PERSISTENT, 1, 4, 4},
    /* and is not rounded: 1 of 101 to 199 is under it, 2 of 199 and 2 of 200 are not */
    {1, 100, {0, 1, 0}, {0, 16, 0}, "1111", PERSISTENT, 1, 4, 4},
    {1, 101, {0, 1, 0}, {0, 16, 0}, "1111", NONE, 1, 4, 4},
    {1, 199, {0, 1, 0}, {0, 16, 0}, "1111", NONE, 1, 4, 4},
    {2, 199, {0, 1, 0}, {0, 16, 0}, "1111", PERSISTENT, 1, 4, 4},
    {2, 200, {0, 1, 0}, {0, 16, 0}, "1111", PERSISTENT, 1, 4, 4},
    /* windows as long as they get: 92233720368547758.07 is the hundredth part */
    {92233720368547758, INT64_MAX, {0, 1, 0}, {0, 16, 0}, "1111", NONE, 1, 4, 4},
    {92233720368547759, INT64_MAX, {0, 1, 0}, {0, 16, 0}, "1111", PERSISTENT, 1, 4, 4},
    /* nobody caused any */
    {0, 0, {0, 0, 0}, {0, 0, 0}, "", NONE, -1, 0, 0},
    {0, 100, {0, 0, 0}, {0, 0, 0}, "", NONE, -1, 0, 0},
    /* fewer than 3 steps */
    {50, 100, {0, 9, 0}, {0, 16, 0}, "", INCONCLUSIVE, 1, 0, 0},
    {50, 100, {0, 9, 0}, {0, 16, 0}, "11", INCONCLUSIVE, 1, 2, 2},
    {50, 100, {0, 9, 0}, {0, 16, 0}, "111", PERSISTENT, 1, 3, 3},
    /* z is 3, which is not above it; one more is */
    {50, 100, {0, 9, 0}, {0, 10, 0}, "1111", INCONCLUSIVE, 1, 4, 4},
    {50, 100, {0, 9, 0}, {0, 11, 0}, "1111", PERSISTENT, 1, 4, 4},
    /* half of the steps is enough, less is not; then somebody else may lead half, or nobody */
    {50, 100, {0, 9, 0}, {0, 11, 0}, "1102", PERSISTENT, 1, 2, 2},
    {50, 100, {0, 9, 0}, {0, 11, 0}, "11022", ROTATING, 1, 2, 2},
    {50, 100, {0, 9, 0}, {0, 11, 0}, "11000", INCONCLUSIVE, 1, 2, 3},
    {50, 100, {0, 9, 0}, {0, 11, 0}, "1100", PERSISTENT, 1, 2, 2},
    {50, 100, {0, 9, 0}, {0, 11, 0}, "0022", INCONCLUSIVE, 1, 0, 2},
    {50, 100, {0, 9, 0}, {0, 11, 0}, "012", ROTATING, 1, 1, 1},
    {50, 100, {0, 9, 0}, {0, 10, 0}, "1102", INCONCLUSIVE, 1, 2, 2},
    {50, 100, {0, 9, 0}, {0, 0, 0}, "012012", ROTATING, 1, 2, 2},
    /* the rank with the largest cost is meant, even where another comes last more often;
     * of equals the lowest */
    {50, 100, {8, 9, 0}, {16, 10, 0}, "1111", INCONCLUSIVE, 1, 4, 4},
    {50, 100, {9, 9, 9}, {16, 16, 16}, "000", INCONCLUSIVE, 0, 3, 3},
    /* an even share and 15 % of the rest is 1/3 + 0.1 = 13/30 of all */
    {50, 100, {13, 12, 5}, {16, 16, 0}, "000", PERSISTENT, 0, 3, 3},
    {50, 100, {129, 120, 51}, {16, 16, 0}, "000", INCONCLUSIVE, 0, 3, 3},
    {50, 100, {1, 9, 9}, {0, 16, 16}, "111", PERSISTENT, 1, 3, 3},
    {50, 100, {1, 1, 2}, {0, 0, 16}, "222", PERSISTENT, 2, 3, 3},
    /* a rank that lasts comes before one whose single hiccup cost more; of two that last, the one
     * that caused more */
    {50, 100, {9, 8, 0}, {1, 16, 0}, "1111", PERSISTENT, 1, 4, 4},
    {50, 100, {9, 8, 0}, {1, 16, 0}, "0111", PERSISTENT, 1, 3, 3},
    {50, 100, {9, 8, 0}, {16, 16, 0}, "0011", PERSISTENT, 0, 2, 2},
};

static void a_verdict_follows_from_waits_leads_and_last_arrivals(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(trials); i++) {
        const trial *t = &trials[i];
        tm_toll ranks[RANKS];
        tm_leader leaders[STEPS];
        size_t n = strlen(t->leaders);
        assert_true(n <= STEPS);
        for (size_t r = 0; r < RANKS; r++)
            ranks[r] = (tm_toll){.rank = (int64_t)r,
                                 .wait_ns = r == 2 ? t->wait_ns : 0,
                                 .caused = {t->caused[r], 0},
                                 .last = t->last[r],
                                 .expected = 4.0,
                                 .variance = 4.0};
        for (size_t s = 0; s < n; s++)
            leaders[s] = (tm_leader){.step = (int64_t)s, .rank = t->leaders[s] - '0'};
        tm_verdict v = tm_verdict_decide(ranks, RANKS, leaders, n, t->window_ns);
        assert_int_equal(v.kind, t->kind);
        assert_int_equal(v.rank, t->rank);
        assert_int_equal(v.steps, n);
        assert_int_equal(v.led, t->led);
        assert_int_equal(v.most_led, t->most_led);
        assert_int_equal(v.wait_ns, t->wait_ns);
    }
}

static void z_counts_standard_deviations_above_chance(void **state) {
    (void)state;
    static const tm_leader leaders[] = {{.step = 0}, {.step = 1}, {.step = 2}};
    static const struct {
        int64_t last;
        double expected, variance, z;
    } cases[] = {{11, 4.0, 4.0, 3.5}, {0, 4.0, 4.0, -2.0}, {5, 4.0, 0.25, 2.0}, {5, 4.0, 0.0, 0.0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const tm_toll rank = {.caused = {1, 0},
                              .wait_ns = 5,
                              .last = cases[i].last,
                              .expected = cases[i].expected,
                              .variance = cases[i].variance};
        tm_verdict v = tm_verdict_decide(&rank, 1, leaders, COUNT(leaders), 10);
        assert_true(v.z == cases[i].z);
    }
}

/* Ten ranks, of which 3 leads all steps. It never comes last: as long as most of its cost is
 * direct, that is no more than chance. Else the steps are held against chance: of n steps n/10 are
 * expected with a variance of 0.09 n, so that z is 0.9 sqrt(n / 0.09) = 3 sqrt(n): 5.2 of 3 steps.
 */
static void a_rank_that_costs_through_others_need_not_come_last(void **state) {
    (void)state;
    static const tm_leader leaders[] = {{.rank = 3}, {.rank = 3}, {.rank = 3}};
    static const struct {
        int64_t caused, passed, indirect;
        tm_verdict_kind kind;
    } cases[] = {
        {0, 0, 50, TM_VERDICT_PERSISTENT},
        {50, 0, 50, TM_VERDICT_INCONCLUSIVE},
        {50, 1, 50, TM_VERDICT_PERSISTENT},
        {50, 0, 0, TM_VERDICT_INCONCLUSIVE},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_toll ranks[10];
        for (int r = 0; r < 10; r++)
            ranks[r] = (tm_toll){.rank = r, .wait_ns = 10, .expected = 4.0, .variance = 4.0};
        ranks[3].caused.whole_ns = cases[i].caused;
        ranks[3].passed_ns = cases[i].passed;
        ranks[3].indirect_ns = cases[i].indirect;
        tm_verdict v = tm_verdict_decide(ranks, 10, leaders, COUNT(leaders), 1000);
        assert_int_equal(v.kind, cases[i].kind);
        assert_int_equal(v.rank, 3);
        assert_int_equal(v.toll.indirect_ns, cases[i].indirect);
    }
}

static void waits_of_all_ranks_count(void **state) {
    (void)state;
    const tm_toll ranks[] = {{.rank = 4, .wait_ns = 3},
                             {.rank = 5, .wait_ns = 4, .caused = {7, 0}}};
    assert_int_equal(tm_verdict_decide(ranks, 2, NULL, 0, 700).kind, INCONCLUSIVE);
    assert_int_equal(tm_verdict_decide(ranks, 2, NULL, 0, 701).kind, NONE);
    assert_int_equal(tm_verdict_decide(ranks, 2, NULL, 0, 701).wait_ns, 7);
}

/* Rank 1 leads all of 4 steps and comes last in 40 of 40 (13.3 by chance). It cost 5,004 ns in 4
 * steps, 4 of them through others: its clock may be wrong by as much, or by 1 ns less. */
static void nobody_is_named_within_what_clocks_may_be_wrong_by(void **state) {
    (void)state;
    for (int64_t doubt = 5003; doubt <= 5004; doubt++) {
        tm_toll ranks[RANKS] = {{.rank = 0, .wait_ns = 3000}, {.rank = 1}, {.rank = 2}};
        tm_leader leaders[4];
        ranks[1].last = ranks[1].untied = 40;
        ranks[1].expected = 40.0 / 3.0;
        ranks[1].variance = 40.0 * 2.0 / 9.0;
        ranks[1].caused.whole_ns = 5000;
        ranks[1].indirect_ns = 4;
        ranks[1].doubt_ns = doubt;
        for (int64_t step = 0; step < 4; step++)
            leaders[step] = (tm_leader){.step = step, .rank = 1, .caused_ns = 1250};
        tm_verdict v = tm_verdict_decide(ranks, RANKS, leaders, 4, 100000);
        assert_int_equal(v.rank, 1);
        assert_int_equal(v.unsure, doubt == 5004);
        assert_int_equal(v.kind, doubt == 5004 ? TM_VERDICT_INCONCLUSIVE : TM_VERDICT_PERSISTENT);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_have_words),
        cmocka_unit_test(tolls_of_a_rank_add_up),
        cmocka_unit_test(cost_is_what_was_caused_without_what_was_passed_on),
        cmocka_unit_test(the_leader_of_a_step_cost_the_most),
        cmocka_unit_test(a_verdict_follows_from_waits_leads_and_last_arrivals),
        cmocka_unit_test(z_counts_standard_deviations_above_chance),
        cmocka_unit_test(a_rank_that_costs_through_others_need_not_come_last),
        cmocka_unit_test(waits_of_all_ranks_count),
        cmocka_unit_test(nobody_is_named_within_what_clocks_may_be_wrong_by),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
