/* Scores of members for each unit, and the scores that occur by chance. */
#include "analysis/stragglers/p_values.h"

#include <math.h>

static void assert_near(double found, double expected) {
    if (fabs(found - expected) > 1e-6)
        fail_msg("%.9f is not %.9f", found, expected);
}

/* The median of 1, 9, 11 and 35 is 10. The distances from it, -9, -1, 1 and 25, have the roots -3,
 * -1, 1 and 5, whose mean 0.5 is subtracted. For 5, 5 and 9, the roots are 0, 0 and 2. */
static const struct {
    size_t n;
    int64_t ns[4];
    double scores[4];
} rows[] = {
    {2, {7, 25}, {-3, 3}},      {2, {1LL << 50, (1LL << 50) + 2}, {-1, 1}},
    {3, {4, 6, 5}, {-1, 1, 0}}, {3, {5, 5, 9}, {-2.0 / 3, -2.0 / 3, 4.0 / 3}},
    {3, {7, 7, 7}, {0, 0, 0}},  {4, {11, 1, 35, 9}, {0.5, -3.5, 4.5, -1.5}},
};

TEST(scores_are_roots_of_distances_from_the_median) {
    for (size_t t = 0; t < COUNT(rows); t++) {
        int64_t ns[8] = {0};
        double out[8];
        tm_error err;
        /* these are the second of two rows; in the first, all are equal */
        for (size_t i = 0; i < rows[t].n; i++)
            ns[rows[t].n + i] = rows[t].ns[i];
        const tm_own_times times = {.n = rows[t].n, .n_rows = 2, .ns = ns};
        assert_int_equal(tm_scores_rows(&times, out, &err), TM_OK);
        for (size_t i = 0; i < rows[t].n; i++) {
            assert_near(out[i], 0.0);
            assert_near(out[rows[t].n + i], rows[t].scores[i]);
        }
    }
}

/* Lengths of windows, n_units x 0.7^k rounded down, and where they begin. For 8 units: 8 once; 5
 * (of 5.6) at 0 to 3; 3 (of 3.92) at 0 to 5. For 20 units: 20 once; 14 at 0, 3, 6; 9 (of 9.8) at 0,
 * 2, ... 10 and 11, the last position; 6 (of 6.9), 4 (of 4.8) and 3 (of 3.4) at each position. */
static const struct {
    size_t n_units, n_windows, lengths[6], n_of[6];
    double handicaps[3]; /* for the first three lengths; 1.7146449 is sqrt(2 + 2 ln(8 / 5)) */
} windows[] = {
    {1, 1, {1}, {1}, {0}},
    {7, 1, {7}, {1}, {0}},
    {8, 11, {8, 5, 3}, {1, 4, 6}, {1.4142136, 1.7146449, 1.9903915}},
    {20, 61, {20, 14, 9, 6, 4, 3}, {1, 3, 7, 15, 17, 18}, {0}},
};

TEST(windows_are_shorter_by_three_tenths_each) {
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
            if (windows[t].handicaps[0] > 0.0)
                assert_near(found[first].handicap, windows[t].handicaps[k]);
            assert_int_equal(found[at - 1].end, windows[t].n_units);
        }
        assert_int_equal(at, windows[t].n_windows);
    }
}

TEST(classes_add_up_their_members_scores) {
    /* the sums 4 and 8 are divided by the root of 2, 6 by the root of 3, and 6 by 1 */
    static const double scores[] = {1, 2, 3, 6};
    static const size_t even[] = {0, 1, 0, 1}, uneven[] = {0, 0, 0, 1};
    static const double sums[][4] = {{0, 0, 2.8284271, 5.6568542}, {0, 0, 3.4641016, 6}};
    double out[4];
    tm_error err;
    for (size_t t = 0; t < COUNT(sums); t++) {
        const tm_trial trial = {4, 1, scores, t ? uneven : even, 2, NULL, 0};
        assert_int_equal(tm_scores_sums(&trial, out, &err), TM_OK);
        for (size_t i = 0; i < COUNT(out); i++)
            assert_near(out[i], sums[t][i]);
    }
}

TEST(heights_are_sums_by_their_standard_deviation) {
    /* If members are permuted, a unit of -1 and 1 has the variance 1, one of -2 and 2 has 4, and
     * one of 0 and 0 has 0: on average 5/3. The heights of two units and of one are 3 / sqrt(2 x
     * 5/3) - 0.5 and 2 / sqrt(5/3) - 0.5. If all members are equal, none stands out. */
    static const double scores[] = {-1, 1, -2, 2, 0, 0};
    static const double heights[] = {1.1431677, 1.0491933, -0.5};
    tm_window v[] = {{0, 2, 0.0, 0.0, 0.5}, {1, 2, 0.0, 0.0, 0.5}, {2, 3, 0.0, 0.0, 0.5}};
    const tm_trial trial = {2, 3, scores, NULL, 2, v, COUNT(v)};
    double sums[8];
    tm_error err;
    tm_windows_scale(&trial);
    assert_int_equal(tm_scores_sums(&trial, sums, &err), TM_OK);
    for (size_t w = 0; w < COUNT(v); w++)
        assert_near(tm_window_height(&v[w], sums, 2, 1), heights[w]);
}

static const size_t pairs[] = {0, 0, 1, 1};
static const double twos[] = {-1, 1, -1, 1}, unlike[] = {-1, 1, -3, 3};
static const double threes[] = {-1, 0, 1, 1, 0, -1, -1, 1, 0, 0, -1, 1};
static const double lasts[] = {-1, -1, -1, 3, -1, 3, -1, -1};

/* The variance of a unit is 1 for 2 members (in `unlike` 1 and 9), 2/3 for 3 members, and 3 for the
 * 4 of `lasts`. For 3 members and two units, the largest sum is 2 if one member is last in both (1
 * in 3), 0 if the second unit reverses the order (1 in 6), otherwise 1. */
static const struct {
    tm_trial trial;
    double height, expected;
} chances[] = {
    /* one of n members is last in all units: n / n^units */
    {{2, 2, twos, NULL, 2, NULL, 0}, 1.4142136, 1.0 / 2},
    {{3, 2, threes, NULL, 3, NULL, 0}, 1.7320508, 1.0 / 3},
    {{3, 4, threes, NULL, 3, NULL, 0}, 2.4494897, 1.0 / 27},
    {{3, 2, threes, NULL, 3, NULL, 0}, 0.8660254, 5.0 / 6},
    {{3, 2, threes, NULL, 3, NULL, 0}, 0.0, 1.0},
    {{3, 2, threes, NULL, 3, NULL, 0}, 1.733, 0.0},
    /* the height is 4 / sqrt(10) or 2 / sqrt(10) */
    {{2, 2, unlike, NULL, 2, NULL, 0}, 1.2649111, 1.0 / 2},
    {{2, 2, unlike, NULL, 2, NULL, 0}, 0.6324555, 1.0},
    /* the last of 4 is the same member in two classes, with (3 - 1) / sqrt 2 each */
    {{4, 2, lasts, pairs, 2, NULL, 0}, 1.1547005, 1.0 / 2},
    {{4, 2, lasts, pairs, 2, NULL, 0}, 1.155, 0.0},
};

TEST(chance_reaches_as_much_as_combinatorics_say) {
    enum { DRAWS = 2999 };
    for (size_t t = 0; t < COUNT(chances); t++) {
        tm_chance chance = {0};
        tm_error err;
        double p = chances[t].expected;
        tm_trial trial = chances[t].trial;
        tm_window all = {.end = trial.n_units};
        trial.windows = &all;
        trial.n_windows = 1;
        const double largest = tm_windows_scale(&trial);
        assert_true(tm_height_bound(&trial, largest, chances[t].height) >= p);
        assert_int_equal(tm_chance_draw(&chance, &trial, DRAWS, &err), TM_OK);
        size_t reach = tm_chance_reach(&chance, chances[t].height - 1e-6);
        /* 3 standard errors of sampling; 0 if the outcome is certain */
        if (fabs((double)reach / DRAWS - p) > 3.0 * sqrt(p * (1.0 - p) / DRAWS))
            fail_msg("row %zu: %zu of %d reach it, not %.4f", t, reach, DRAWS, p);
        tm_chance_free(&chance);
    }
}

TEST(a_bound_makes_draws_superfluous_where_a_member_stands_out) {
    /* One of 8 members is last in 40 units, with the score 7; the others have -1. The sum is 280
     * and its variance 40 x (49 + 7) / 8 = 280, so with u = 7 the bound is 8 exp(-280 / 49 (8 ln 8
     * - 7)) = 8 exp(-55.06018). The height is 280 / sqrt(280). (p is 8^-39 = exp(-81).) */
    double scores[320];
    for (size_t i = 0; i < COUNT(scores); i++)
        scores[i] = i % 8 == 5 ? 7.0 : -1.0;
    tm_window all = {.end = 40};
    const tm_trial trial = {8, 40, scores, NULL, 8, &all, 1};
    const double largest = tm_windows_scale(&trial);
    const double bound = tm_height_bound(&trial, largest, 16.7332005);
    assert_near(log(bound / 8.0), -55.06018476);
    memset(scores, 0, sizeof scores); /* no member stands out */
    assert_true(tm_height_bound(&trial, tm_windows_scale(&trial), 0.0) == 1.0);
}

TEST(first_draws_are_the_same_when_more_are_drawn) {
    enum { FEW = 50, ALL = 120 };
    double scores[45];
    for (size_t i = 0; i < COUNT(scores); i++)
        scores[i] = (double)(i % 5) - 2.0;
    tm_window v[32];
    const tm_trial trial = {5, 9, scores, NULL, 5, v, tm_windows(9, v)};
    tm_chance once = {0}, twice = {0};
    tm_error err;
    tm_windows_scale(&trial);
    assert_int_equal(tm_chance_draw(&once, &trial, ALL, &err), TM_OK);
    assert_int_equal(tm_chance_draw(&twice, &trial, FEW, &err), TM_OK);
    assert_int_equal(twice.n_draws, FEW);
    assert_int_equal(tm_chance_draw(&twice, &trial, ALL, &err), TM_OK);
    assert_int_equal(tm_chance_draw(&twice, &trial, FEW, &err), TM_OK);
    assert_int_equal(twice.n_draws, ALL);
    for (size_t i = 0; i < ALL; i++) {
        assert_true(once.largest[i] == twice.largest[i]);
        assert_true(i == 0 || once.largest[i - 1] <= once.largest[i]);
    }
    assert_true(once.largest[0] < once.largest[ALL - 1]);
    tm_chance_free(&once);
    tm_chance_free(&twice);
}

/* Members are summed in the order of classes, or one by one while they are permuted. */
TEST(members_draw_as_classes_of_one_each) {
    enum { N = 23, UNITS = 12, ALL = 120 };
    double scores[N * UNITS];
    size_t own[N];
    for (size_t i = 0; i < COUNT(scores); i++)
        scores[i] = sqrt((double)(tm_draw(3, i) >> 50)) - 60.0;
    for (size_t i = 0; i < N; i++)
        own[i] = i;
    tm_window v[64];
    tm_trial trial = {N, UNITS, scores, NULL, N, v, tm_windows(UNITS, v)};
    tm_orders orders = {0};
    tm_chance alone = {.orders = &orders}, classes = {0};
    tm_error err;
    tm_windows_scale(&trial);
    assert_int_equal(tm_chance_draw(&alone, &trial, ALL / 2, &err), TM_OK); /* draws orders */
    tm_chance_free(&alone);
    assert_int_equal(tm_chance_draw(&alone, &trial, ALL, &err), TM_OK); /* uses these orders */
    trial.class_of = own;
    assert_int_equal(tm_chance_draw(&classes, &trial, ALL, &err), TM_OK);
    assert_memory_equal(alone.largest, classes.largest, ALL * sizeof *alone.largest);
    tm_chance_free(&alone);
    tm_chance_free(&classes);
    tm_orders_free(&orders);
}

RUN_TESTS()
