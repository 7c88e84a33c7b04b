/* Sums, spread and medians of values of several ranks. */
#include "analysis/host/distribution.h"

/* The mean is 5. The squared deviations are 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32, divided by 7. */
static const int64_t eight[] = {2, 4, 4, 4, 5, 5, 7, 9};

TEST(one_value_deviates_by_nothing) {
    const int64_t one = 88;
    const tm_distribution d = tm_distribution_of(&one, 1);
    assert_true(tm_distribution_mean(&d) == 88.0 && tm_distribution_deviation(&d) == 0.0);
}

TEST(parts_joined_have_the_sums_and_spread_of_the_whole) {
    for (size_t cut = 1; cut < COUNT(eight); cut++) {
        tm_distribution d = {0};
        const tm_distribution a = tm_distribution_of(eight, cut),
                              b = tm_distribution_of(eight + cut, COUNT(eight) - cut);
        tm_distribution_join(&d, &b);
        tm_distribution_join(&d, &a);
        assert_int_equal(d.n, 8);
        assert_int_equal(d.sum, 40);
        assert_int_equal(d.min, 2);
        assert_int_equal(d.max, 9);
        assert_float_equal(d.squares, 32, 1e-12);
        assert_float_equal(tm_distribution_deviation(&d), 2.1380899352993952,
                           1e-12); /* sqrt(32/7) */
    }
}

/* The deviation of 88,936 and 135,977 is 33,263.0, as in a log of nsys stats. */
TEST(two_values_deviate_as_nsys_stats_says) {
    const int64_t two[] = {88936, 135977};
    const tm_distribution d = tm_distribution_of(two, 2);
    assert_float_equal(tm_distribution_deviation(&d), 33263.0, 0.05);
}

TEST(names_share_the_room) {
    static const size_t distinct[] = {100, 3, 40};
    assert_int_equal(tm_room_for_each(distinct, 3, 256), 256); /* all 143 names fit */
    assert_int_equal(tm_room_for_each(distinct, 3, 128), 64);  /* 64 + 3 + 40 names fit */
    assert_int_equal(tm_room_for_each(distinct, 3, 64), 16);   /* 32 + 3 + 32 names do not fit */
    assert_int_equal(tm_room_for_each(distinct, 3, 2), 1);     /* at least one each */
}

static void assert_kept(size_t room, const char *expected) {
    char text[128] = "";
    size_t at = 0;
    tm_kept kept;
    while (tm_keep_next(eight, COUNT(eight), tm_distinct(eight, COUNT(eight)), room, &at, &kept))
        snprintf(text + strlen(text), sizeof text - strlen(text), "%lld x %lld, ",
                 (long long)kept.count, (long long)kept.value);
    assert_string_equal(text, expected);
}

TEST(values_are_kept_whole_or_as_the_middle_of_equal_parts) {
    assert_int_equal(tm_distinct(eight, COUNT(eight)), 5);
    assert_kept(5, "1 x 2, 3 x 4, 2 x 5, 1 x 7, 1 x 9, ");
    assert_kept(4, "2 x 2, 2 x 4, 2 x 5, 2 x 7, "); /* 2 4 | 4 4 | 5 5 | 7 9 */
    assert_kept(3, "3 x 4, 3 x 5, 2 x 7, ");        /* 2 4 4 | 4 5 5 | 7 9 */
    assert_kept(1, "8 x 4, ");
}

RUN_TESTS()
