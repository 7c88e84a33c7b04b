/* Scores of members in units, and what chance makes of them. */
#include "analysis/stragglers/scores.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void assert_near(double found, double expected) {
    if (fabs(found - expected) > 1e-6)
        fail_msg("%.9f is not %.9f", found, expected);
}

/* Of 4 the quantiles of 0.625 / 4.25, 1.625 / 4.25 ... are -1.04913, -0.29931, ... (Python's
 * statistics.NormalDist); their mean square is (1.10068 + 0.08958) / 2 = 0.59513, its root 0.77145.
 * Of 3 they are -a, 0 and a, of 2 -a and a, whatever the quantile. */
static const struct {
    size_t n;
    double normal[4], last[4];
} places[] = {
    {2, {-1, 1}, {-1, 1}},
    {3, {-1.2247449, 0, 1.2247449}, {-0.7071068, -0.7071068, 1.4142136}},
    {4,
     {-1.3599524, -0.3879811, 0.3879811, 1.3599524},
     {-0.5773503, -0.5773503, -0.5773503, 1.7320508}},
};

static void scores_of_places_have_mean_0_and_mean_square_1(void **state) {
    (void)state;
    double normal[64], last[64];
    for (size_t t = 0; t < COUNT(places); t++) {
        tm_scores_places(places[t].n, normal, last);
        for (size_t i = 0; i < places[t].n; i++) {
            assert_near(normal[i], places[t].normal[i]);
            assert_near(last[i], places[t].last[i]);
        }
    }
    for (size_t n = 2; n <= COUNT(normal); n++) {
        double sums[4] = {0};
        tm_scores_places(n, normal, last);
        for (size_t i = 0; i < n; i++) {
            sums[0] += normal[i];
            sums[1] += last[i];
            sums[2] += normal[i] * normal[i] / (double)n;
            sums[3] += last[i] * last[i] / (double)n;
        }
        for (size_t k = 0; k < COUNT(sums); k++)
            assert_near(sums[k], k < 2 ? 0.0 : 1.0);
    }
}

static void equal_members_share_the_mean_of_their_places(void **state) {
    (void)state;
    /* Of 3, a = 1.2247449: (-a + 0) / 2, (0 + a) / 2; of last (sqrt 2 - sqrt 0.5) / 2. */
    static const double normal[][3] = {{-1.2247449, 1.2247449, 0},
                                       {-0.6123724, -0.6123724, 1.2247449},
                                       {0.6123724, -1.2247449, 0.6123724},
                                       {0, 0, 0}};
    static const double last[][3] = {{-0.7071068, 1.4142136, -0.7071068},
                                     {-0.7071068, -0.7071068, 1.4142136},
                                     {0.3535534, -0.7071068, 0.3535534},
                                     {0, 0, 0}};
    int64_t ns[] = {4, 6, 5, 5, 5, 9, 9, 5, 9, 7, 7, 7};
    const tm_own_times times = {.n = 3, .n_rows = 4, .ns = ns};
    double out[12];
    tm_error err;
    assert_int_equal(tm_scores_rows(&times, TM_SCORE_NORMAL, out, &err), TM_OK);
    for (size_t i = 0; i < COUNT(out); i++)
        assert_near(out[i], normal[i / 3][i % 3]);
    assert_int_equal(tm_scores_rows(&times, TM_SCORE_LAST, out, &err), TM_OK);
    for (size_t i = 0; i < COUNT(out); i++)
        assert_near(out[i], last[i / 3][i % 3]);
}

/* 8: 8 once; 5 (5.6) at 0 to 3; 3 (3.92) at 0 to 5. 20: 20; 14 at 0, 3, 6; 9 (9.8) at 0, 2, ... 10
 * and 11, the last that there is room for; 6 (6.9), 4 (4.8), 3 (3.4) at each. */
static const struct {
    size_t n_units, n_windows, lengths[6], n_of[6];
} windows[] = {
    {1, 1, {1}, {1}},
    {7, 1, {7}, {1}},
    {8, 11, {8, 5, 3}, {1, 4, 6}},
    {20, 61, {20, 14, 9, 6, 4, 3}, {1, 3, 7, 15, 17, 18}},
};

static void windows_are_shorter_by_three_tenths_each(void **state) {
    (void)state;
    for (size_t t = 0; t < COUNT(windows); t++) {
        tm_window found[64];
        size_t at = 0;
        assert_int_equal(tm_windows(windows[t].n_units, NULL), windows[t].n_windows);
        assert_int_equal(tm_windows(windows[t].n_units, found), windows[t].n_windows);
        for (size_t k = 0; k < 6 && windows[t].n_of[k] > 0; k++) {
            size_t first = at;
            for (size_t i = 0; i < windows[t].n_of[k]; i++, at++) {
                assert_int_equal(found[at].end - found[at].first, windows[t].lengths[k]);
                assert_true(i == 0 || found[at].first > found[at - 1].first);
            }
            assert_int_equal(found[first].first, 0);
            assert_int_equal(found[at - 1].end, windows[t].n_units);
        }
        assert_int_equal(at, windows[t].n_windows);
    }
}

static void classes_add_up_their_members_scores(void **state) {
    (void)state;
    /* 4 and 8 by the root of 2; 6 by the root of 3, and 6. */
    static const double scores[] = {1, 2, 3, 6};
    static const size_t even[] = {0, 1, 0, 1}, uneven[] = {0, 0, 0, 1};
    double out[2];
    tm_scores_by_class(&(tm_trial){4, 1, even, 2}, scores, out);
    assert_near(out[0], 2.8284271);
    assert_near(out[1], 5.6568542);
    tm_scores_by_class(&(tm_trial){4, 1, uneven, 2}, scores, out);
    assert_near(out[0], 3.4641016);
    assert_near(out[1], 6.0);
}

static const size_t pairs[] = {0, 0, 1, 1};

/* The sums of n members are 0, so with a = 1.2247449 of 3 members the largest of two units is 2 a
 * where one is last in both (1 of 3), 0 where the second has the order reversed (1 of 6), else a.
 */
static const struct {
    tm_trial trial;
    tm_score score;
    double value, expected;
} chances[] = {
    /* one of n is the last of all units: n / n^units */
    {{2, 2, NULL, 2}, TM_SCORE_NORMAL, 1.4142136, 1.0 / 2},
    {{3, 2, NULL, 3}, TM_SCORE_LAST, 2.0, 1.0 / 3},
    {{3, 2, NULL, 3}, TM_SCORE_NORMAL, 1.7320508, 1.0 / 3},
    {{3, 4, NULL, 3}, TM_SCORE_LAST, 2.8284271, 1.0 / 27},
    {{3, 2, NULL, 3}, TM_SCORE_NORMAL, 0.8660254, 5.0 / 6},
    {{3, 2, NULL, 3}, TM_SCORE_NORMAL, 0.0, 1.0},
    {{3, 2, NULL, 3}, TM_SCORE_LAST, 2.001, 0.0},
    /* the last of 4 is in the same of two classes, for (sqrt 3 - sqrt 1/3) / sqrt 2 each time */
    {{4, 2, pairs, 2}, TM_SCORE_LAST, 1.1547005, 1.0 / 2},
    {{4, 2, pairs, 2}, TM_SCORE_LAST, 1.155, 0.0},
};

static void chance_reaches_as_much_as_combinatorics_say(void **state) {
    (void)state;
    enum { DRAWS = 2999 };
    for (size_t t = 0; t < COUNT(chances); t++) {
        tm_chance chance = {0};
        tm_error err;
        double p = chances[t].expected;
        assert_int_equal(tm_chance_draw(&chance, &chances[t].trial, DRAWS, &err), TM_OK);
        size_t reach = tm_chance_reach(&chance, chances[t].score, chances[t].value - 1e-6);
        /* 3 times the error of sampling, 0 where it is certain */
        if (fabs((double)reach / DRAWS - p) > 3.0 * sqrt(p * (1.0 - p) / DRAWS))
            fail_msg("row %zu: %zu of %d reach it, not %.4f", t, reach, DRAWS, p);
        tm_chance_free(&chance);
    }
}

static void first_draws_are_the_same_when_more_are_drawn(void **state) {
    (void)state;
    enum { FEW = 50, ALL = 120 };
    const tm_trial trial = {5, 9, NULL, 5};
    tm_chance once = {0}, twice = {0};
    tm_error err;
    assert_int_equal(tm_chance_draw(&once, &trial, ALL, &err), TM_OK);
    assert_int_equal(tm_chance_draw(&twice, &trial, FEW, &err), TM_OK);
    assert_int_equal(twice.n_draws, FEW);
    assert_int_equal(tm_chance_draw(&twice, &trial, ALL, &err), TM_OK);
    assert_int_equal(tm_chance_draw(&twice, &trial, FEW, &err), TM_OK);
    assert_int_equal(twice.n_draws, ALL);
    for (int s = 0; s < TM_N_SCORES; s++)
        for (size_t i = 0; i < ALL; i++) {
            assert_true(once.largest[s][i] == twice.largest[s][i]);
            assert_true(i == 0 || once.largest[s][i - 1] <= once.largest[s][i]);
        }
    assert_true(once.largest[TM_SCORE_NORMAL][0] < once.largest[TM_SCORE_NORMAL][ALL - 1]);
    tm_chance_free(&once);
    tm_chance_free(&twice);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_of_places_have_mean_0_and_mean_square_1),
        cmocka_unit_test(equal_members_share_the_mean_of_their_places),
        cmocka_unit_test(windows_are_shorter_by_three_tenths_each),
        cmocka_unit_test(classes_add_up_their_members_scores),
        cmocka_unit_test(chance_reaches_as_much_as_combinatorics_say),
        cmocka_unit_test(first_draws_are_the_same_when_more_are_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
