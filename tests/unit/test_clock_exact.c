/* Sums and medians that do not depend on the order, and normal equations made from them. */
#include "clock/solve.h"

#include <math.h>

static uint64_t next_random(uint64_t *random) {
    return *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}

TEST(scales_are_powers_of_two_that_leave_room) {
    assert_true(tm_exact_scale(1.0) == 0x1p50); /* 1 < 2^1, so the scale is 2^(51 - 1) */
    assert_true(tm_exact_scale(0.75) == 0x1p51);
    assert_true(tm_exact_scale(3e-9) == 0x1p79); /* 3e-9 < 2^-28 = 3.7e-9 */
    assert_true(tm_exact_scale(0.0) == 1.0);
}

TEST(fixed_point_rounds_to_the_nearest) {
    assert_int_equal(tm_exact_fixed(1.25, 1.0), 1);
    assert_int_equal(tm_exact_fixed(-1.75, 1.0), -2);
    assert_int_equal(tm_exact_fixed(-0.3, 16.0), -5); /* -0.3 x 16 is -4.8 */
    assert_int_equal(tm_exact_fixed(0x1p51, 1.0), INT64_C(1) << 51);
    assert_int_equal(tm_exact_fixed(-0x1p51, 1.0), -(INT64_C(1) << 51));
    assert_true(tm_exact_real(-5, 16.0) == -0.3125);
}

/* In doubles, 2^-60 + 1 - 1 is 0 if summed from the left, and 2^-60 if summed from the right. */
TEST(sums_do_not_depend_on_the_order) {
    enum { N = 1000 };
    double values[N], scale = tm_exact_scale(N * 1e6);
    uint64_t random = 7;
    int64_t up = 0, down = 0;
    for (int i = 0; i < N; i++)
        values[i] = (double)(int64_t)next_random(&random) * 0x1p-63 *
                    pow(10.0, (double)(next_random(&random) >> 60) - 9.0);
    for (int i = 0; i < N; i++) {
        up += tm_exact_fixed(values[i], scale);
        down += tm_exact_fixed(values[N - 1 - i], scale);
    }
    double plain = 0.0;
    for (int i = 0; i < N; i++)
        plain += values[i];
    assert_true(up == down);
    assert_true(fabs(tm_exact_real(up, scale) - plain) < 1e-3);
}

static tm_status select_all(tm_median_search *select, const double *values, size_t n,
                            tm_error *err) {
    tm_median_search_begin(select);
    for (int pass = 0; pass < TM_MEDIAN_SEARCH_PASSES; pass++) {
        for (size_t i = 0; i < n; i++)
            tm_median_search_add(select, i % 3, values[i]);
        TM_TRY(tm_median_search_next(select, &tm_clock_serial, err));
    }
    return TM_OK;
}

/* The values are dealt to the lists in turn: {-5e15, 7, 2}, {0, 0}, {-1, -3, -2}. The fourth list
 * is empty. Lower medians: 2, 0, -2. */
TEST(medians_are_found_a_byte_at_a_time) {
    const double values[] = {7, 0, -1, -5e15, 0, -3, 2, 1, -2};
    tm_error err;
    tm_median_search select;
    assert_true(tm_median_search_create(&select, 4));
    for (int again = 0; again < 2; again++) {
        assert_int_equal(select_all(&select, values, COUNT(values) - 2, &err), TM_OK);
        assert_true(tm_median_search_median(&select, 0) == 2.0);
        assert_true(tm_median_search_median(&select, 1) == 0.0);
        assert_true(tm_median_search_median(&select, 2) == -3.0);
        assert_int_equal(select_all(&select, values, COUNT(values), &err), TM_OK);
        assert_true(tm_median_search_median(&select, 1) == 0.0);
        assert_true(tm_median_search_median(&select, 2) == -2.0);
        assert_true(tm_median_search_median(&select, 3) == 0.0);
    }
    tm_median_search_free(&select);
}

/* An octave has 16 bins of equal width (3.2 to 6.3 % of a value). The median is interpolated. */
TEST(spreads_are_counted_to_three_percent) {
    for (int k = 0; k < 36; k++) {
        double middle = 40.0 * pow(1.7, k);
        int64_t counts[TM_SPREAD_BINS] = {0};
        for (int i = 0; i < 1001; i++)
            tm_spread_add(counts, middle * (0.5 + i / 1000.0));
        assert_true(fabs(tm_spread_median(counts) / middle - 1.0) < 0.03);
    }
    int64_t none[TM_SPREAD_BINS] = {0}, small[TM_SPREAD_BINS] = {0};
    assert_true(tm_spread_median(none) == 0.0);
    tm_spread_add(small, 0.0);
    tm_spread_add(small, 1e300);
    assert_true(tm_spread_median(small) <= 16.0);
}

/* Two domains have one event at x = 0, with weights 1/4 each and ends at 3 and 7. Without the
 * common end, the matrix is (1/4 - 1/8, -1/8; -1/8, 1/8), and the right side is 1/4 (5 - 3), 1/4 (5
 * - 7). Adding 1/8 to the diagonal gives (1/4, -1/8; -1/8, 1/4) (8/6, -8/6) = (1/2, -1/2). The
 * inverse of this matrix is (16/3, 8/3; 8/3, 16/3). For the rates, the matrix has only the given 4,
 * so their variance is 1/4. */
TEST(a_system_of_two_is_solved_as_by_hand) {
    const tm_anchor anchors[] = {{.domain = 0, .y = 3.0, .weight = 0.25},
                                 {.domain = 1, .y = 7.0, .weight = 0.25}};
    const double scales[] = {tm_exact_scale(0.5), tm_exact_scale(1.0)};
    double shift, both, rate;
    tm_normal normal;
    assert_true(tm_normal_create(&normal, 2));
    tm_normal_clear(&normal);
    tm_normal_add(&normal, anchors, 2, scales);
    tm_normal_expand(&normal, scales);
    assert_true(*tm_normal_at(&normal, 0, 0) == 0.125);
    assert_true(*tm_normal_at(&normal, 2, 0) == -0.125);
    assert_true(normal.right[0] == 0.5 && normal.right[2] == -0.5);
    for (size_t r = 0; r < 4; r++)
        *tm_normal_at(&normal, r, r) += r % 2 ? 4.0 : 0.125;
    tm_normal_factor(&normal);
    tm_normal_solve(&normal);
    assert_true(fabs(normal.right[0] - 8.0 / 6.0) < 1e-12);
    assert_true(fabs(normal.right[2] + 8.0 / 6.0) < 1e-12);
    tm_normal_covariance(&normal, 0, &shift, &both, &rate);
    assert_true(fabs(shift - 16.0 / 3.0) < 1e-12 && both == 0.0 && fabs(rate - 0.25) < 1e-12);
    tm_normal_free(&normal);
}

/* One event of three domains at x = 1, -1, 1/2 with weights 1, 2, 1. The sum of weights is 4, and
 * the sum of w x is -1/2. So all entries of the first domain are 1 - 1/4 = 3/4, and those of the
 * second with the first are -2/4 (1, 1; -1, -1). */
TEST(times_stand_in_the_second_unknown) {
    const tm_anchor anchors[] = {{.domain = 0, .x = 1.0, .y = 4.0, .weight = 1.0},
                                 {.domain = 2, .x = -1.0, .y = 0.0, .weight = 2.0},
                                 {.domain = 3, .x = 0.5, .y = 4.0, .weight = 1.0}};
    const double scales[] = {tm_exact_scale(4.0), tm_exact_scale(16.0)};
    tm_normal normal;
    assert_true(tm_normal_create(&normal, 4));
    tm_normal_add(&normal, anchors, 3, scales);
    tm_normal_expand(&normal, scales);
    assert_true(*tm_normal_at(&normal, 0, 0) == 0.75 && *tm_normal_at(&normal, 1, 0) == 0.75);
    assert_true(*tm_normal_at(&normal, 1, 1) == 0.75);
    assert_true(*tm_normal_at(&normal, 4, 0) == -0.5 && *tm_normal_at(&normal, 4, 1) == -0.5);
    assert_true(*tm_normal_at(&normal, 5, 0) == 0.5 && *tm_normal_at(&normal, 5, 1) == 0.5);
    assert_true(*tm_normal_at(&normal, 7, 5) == 0.25); /* -2/4 x -1 x 1/2 */
    assert_true(*tm_normal_at(&normal, 2, 2) == 0.0);  /* this domain is not in the event */
    /* The mean is 2. So w (mean - y) is -2, 4, -2; the rates get these values times x. */
    assert_true(normal.right[0] == -2.0 && normal.right[1] == -2.0);
    assert_true(normal.right[4] == 4.0 && normal.right[5] == -4.0);
    assert_true(normal.right[6] == -2.0 && normal.right[7] == -1.0);
    tm_normal_free(&normal);
}

TEST(what_nothing_determines_is_not_moved) {
    const tm_anchor anchors[] = {{.domain = 0, .y = 3.0, .weight = 0.25},
                                 {.domain = 1, .y = 7.0, .weight = 0.25}};
    const double scales[] = {tm_exact_scale(0.5), tm_exact_scale(1.0)};
    tm_normal normal;
    assert_true(tm_normal_create(&normal, 2));
    tm_normal_add(&normal, anchors, 2, scales);
    tm_normal_expand(&normal, scales);
    tm_normal_pin(&normal, 1);
    tm_normal_factor(&normal); /* the common shift and the second rate are undetermined */
    tm_normal_solve(&normal);
    assert_true(fabs(normal.right[0] - normal.right[2] - 4.0) < 1e-12);
    assert_true(normal.right[1] == 0.0 && normal.right[3] == 0.0);
    tm_normal_free(&normal);
}

RUN_TESTS()
