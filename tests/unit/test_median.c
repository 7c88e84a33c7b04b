/* Means, medians and percentiles. */
#include "base/median.h"

TEST(ratios_are_rounded_half_away_from_zero) {
    static const struct {
        int64_t numerator, denominator, expected;
    } cases[] = {
        {0, 5, 0},
        {1, 2, 1},
        {-1, 2, -1},
        {3, 2, 2},
        {-3, 2, -2},
        {5, 2, 3}, /* 2.5 is not rounded to even */
        {4, 3, 1},
        {-4, 3, -1},
        {5, 3, 2},
        {-5, 3, -2},
        {7, 7, 1},
        {INT64_MAX, 1, INT64_MAX},
        {INT64_MIN, 1, INT64_MIN},
        {INT64_MAX, INT64_MAX, 1},
        {INT64_MAX / 2, INT64_MAX, 0},      /* (2^62 - 1) / (2^63 - 1) is under a half */
        {INT64_MAX / 2 + 1, INT64_MAX, 1},  /* 2^62 / (2^63 - 1) is over it */
        {INT64_MAX, 2, INT64_MAX / 2 + 1},  /* 2^62 - 0.5 */
        {-INT64_MAX, 2, -INT64_MAX / 2 - 1} /* -(2^62 - 0.5) */
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(tm_round_ratio(cases[i].numerator, cases[i].denominator),
                         cases[i].expected);
}

TEST(the_median_of_an_even_number_is_the_mean_of_the_middle_two) {
    static const struct {
        int64_t values[5];
        size_t n;
        int64_t median;
    } cases[] = {
        {{7}, 1, 7},
        {{4, 1}, 2, 3}, /* 2.5 */
        {{-4, -1}, 2, -3},
        {{-1, 0}, 2, -1},
        {{-3, -4}, 2, -4}, /* -3.5 */
        {{-3, 4}, 2, 1},   /* 0.5 */
        {{9, 1, 5}, 3, 5},
        {{3, 1, 100, 2}, 4, 3}, /* (2 + 3) / 2 */
        {{5, 5, 5, 5}, 4, 5},
        {{50, 10, 40, 20, 30}, 5, 30},
        /* sums that overflow */
        {{INT64_MAX, INT64_MAX}, 2, INT64_MAX},
        {{INT64_MAX, INT64_MAX - 1}, 2, INT64_MAX},
        {{INT64_MAX, INT64_MAX - 2}, 2, INT64_MAX - 1},
        {{INT64_MIN, INT64_MIN + 1}, 2, INT64_MIN},
        {{INT64_MIN, INT64_MAX}, 2, -1}, /* -0.5 */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t values[5];
        for (size_t k = 0; k < cases[i].n; k++)
            values[k] = cases[i].values[k];
        tm_sort_values(values, cases[i].n);
        for (size_t k = 1; k < cases[i].n; k++)
            assert_true(values[k - 1] <= values[k]);
        assert_int_equal(tm_median(values, cases[i].n), cases[i].median);
    }
    tm_sort_values(NULL, 0);
}

TEST(the_95th_percentile_is_by_nearest_rank) {
    /* The numbers are n, ..., 2, 1, so ceil(0.95 n) is expected. */
    static const struct {
        size_t n;
        int64_t expected;
    } cases[] = {{1, 1},   {2, 2},   {19, 19},  {20, 19},  {21, 20},
                 {40, 38}, {41, 39}, {100, 95}, {101, 96}, {200, 190}};
    int64_t values[200];
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t k = 0; k < cases[i].n; k++)
            values[k] = (int64_t)(cases[i].n - k);
        assert_int_equal(tm_percentile_95(values, cases[i].n), cases[i].expected);
    }
}

TEST(reals_have_the_same_median) {
    double odd[] = {3.5, -1.0, 0.25}, even[] = {8.0, 1.0, 2.0, 0.5}, one[] = {0.125};
    assert_true(tm_median_real(odd, 3) == 0.25);
    assert_true(tm_median_real(even, 4) == 1.5); /* (1 + 2) / 2 */
    assert_true(tm_median_real(one, 1) == 0.125);
}

/* Compares with sorting, for orders that are hard to partition: equal values, saw teeth, up and
 * down, ascending, descending, pseudo-random, and extreme values. */
TEST(selecting_finds_what_sorting_finds) {
    enum { N = 4500 };
    uint64_t random = 1;
    for (int order = 0; order < 9; order++)
        for (size_t n = 1; n <= N; n += n < 61 ? 1 : n < 300 ? 239 : N - 300)
            for (size_t k = 0; k < n; k += n < N ? 1 : 999) {
                int64_t values[N], sorted[N];
                double reals[N];
                for (size_t i = 0; i < n; i++) {
                    random = random * 6364136223846793005u + 1442695040888963407u;
                    const int64_t orders[] = {7,
                                              (int64_t)(i % 3),
                                              (int64_t)(i < n / 2 ? i : n - i),
                                              (int64_t)i,
                                              -(int64_t)i,
                                              (int64_t)(random >> 60),
                                              (int64_t)(random >> 1),
                                              i % 3 ? INT64_MAX : 5,
                                              i % 2 ? INT64_MIN + (int64_t)i
                                                    : INT64_MAX - (int64_t)i};
                    values[i] = sorted[i] = orders[order];
                    reals[i] = (double)orders[order] / 4.0;
                }
                tm_sort_values(sorted, n);
                for (size_t i = 1; i < n; i++)
                    assert_true(sorted[i - 1] <= sorted[i]);
                assert_int_equal(tm_select(values, n, k), sorted[k]);
                assert_int_equal(values[k], sorted[k]);
                for (size_t i = 0; i < n; i++)
                    assert_true(i < k ? values[i] <= values[k] : values[i] >= values[k]);
                assert_int_equal(tm_median_any(values, n), tm_median(sorted, n));
                assert_true(tm_select_real(reals, n, k) * 4.0 == (double)sorted[k]);
                for (size_t i = 0; i < n; i++)
                    assert_true(i < k ? reals[i] <= reals[k] : reals[i] >= reals[k]);
            }
}

RUN_TESTS()
