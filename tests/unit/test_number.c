/* Numbers, which must be exact in every form in which profilers have written times. */
#include "readers/number.h"

#include <inttypes.h>
#include <math.h>

/* Copies to a buffer of exactly this size, so that a sanitizer finds reads past the number. */
static char *exact(const char *text, size_t n) {
    char *copy = malloc(n);
    assert_non_null(copy);
    memcpy(copy, text, n);
    return copy;
}

/* If the scale is INTEGER, the number is read as an integer, and not scaled. */
enum { INTEGER = 99 };

/* Each case is a number and its value times 10^scale, or "none" if this is not an int64_t. */
static void expect_each(int scale, const char *const *cases) {
    for (; *cases; cases++) {
        size_t n = strcspn(*cases, " ");
        char *text = exact(*cases, n), found[32] = "none";
        int64_t value;
        if (scale == INTEGER ? tm_number_int(text, n, &value)
                             : tm_number_scaled(text, n, scale, &value))
            snprintf(found, sizeof found, "%" PRId64, value);
        free(text);
        if (strcmp(found, *cases + n + 1) != 0)
            fail_msg("%s: found %s", *cases, found);
    }
}
#define EXPECT(scale, ...) expect_each(scale, (const char *const[]){__VA_ARGS__, NULL})

TEST(times_of_every_era_are_exact_to_the_nanosecond) {
    EXPECT(3, /* before 2024-03: whole us since the epoch; doubles in ns are off by up to 128 */
           "1604711800000123 1604711800000123000", "1694128201545679 1694128201545679000",
           "41 41000", "0 0",
           /* 2024-04: us with three decimals, by "%03d"; at 1.7e15 us, doubles are 0.25 us apart */
           "1713200000000123.456 1713200000000123456", "1713200000000123.001 1713200000000123001",
           "1713200000000123.999 1713200000000123999", "1713200000000123.4 1713200000000123400",
           "1713200000000123.40 1713200000000123400",
           /* since then: us relative to the base */
           "0.000 0", "0.001 1", "5.010 5010", "5180637310.357 5180637310357", "-1.500 -1500",
           "-0.001 -1", "-0.000 0",
           /* times that other programs rewrote as doubles */
           "1.694128201545678e+15 1694128201545678000", "1.694128201545678E15 1694128201545678000",
           "1.7132000000001234e+15 1713200000000123400",
           "1.71320000000012345e+15 1713200000000123450", "1.7e+15 1700000000000000000",
           "1713200000000123.2e0 1713200000000123200",
           "17132000000001234560e-4 1713200000000123456", "1e-3 1", "1E-03 1", "2.5e1 25000",
           "3e0 3000", "3e-0 3000", "3e00000000000000001 30000");
}

TEST(what_is_finer_is_rounded_half_away_from_zero) {
    EXPECT(3, /* rounded to the nearest */
           "0.0004 0", "0.0005 1", "0.00049999999999999999999999 0",
           "0.00050000000000000000000000 1", "-0.0004 0", "-0.0005 -1", "1.0004 1000",
           "1.0005 1001",
           /* half to even would give 1002 for the first two */
           "1.0015 1002", "1.0025 1003", "-1.0025 -1003", "0.9995 1000", "0.0000999 0", "5e-4 1",
           /* digits below 0.5 ns, and a 5 that is not the first digit after the point */
           "5e-5 0", "49e-5 0", "999e-7 0", "1713200000000123.4565 1713200000000123457",
           "1713200000000123.456499999 1713200000000123456",
           "1713200000000123.4560000000000000001 1713200000000123456");
    EXPECT(0, "7.5 8", "-7.49 -7");
    EXPECT(-3, "1499 1", "1500 2", "499 0", "500 1", "50 0");
}

TEST(the_limits_of_64_bits_are_reached_and_not_passed) {
    EXPECT(0, /* at the limit and beyond it */
           "9223372036854775807 9223372036854775807", "9223372036854775808 none",
           "-9223372036854775808 -9223372036854775808", "-9223372036854775809 none",
           "18446744073709551615 none", "18446744073709551615.5 none", "18446744073709551616 none",
           "99999999999999999999999999999999 none", "-99999999999999999999999999999999 none",
           "9223372036854775807e1 none", "9223372036854775807e-1 922337203685477581",
           "1e18 1000000000000000000", "1e19 none");
    EXPECT(3, /* the same, in ns */
           "9223372036854775.807 9223372036854775807", "9223372036854775.808 none",
           "-9223372036854775.808 -9223372036854775808", "-9223372036854775.809 none",
           "9223372036854775.8074 9223372036854775807", "9223372036854775.8075 none",
           "-9223372036854775.8084 -9223372036854775808", "-9223372036854775.8085 none",
           "9.223372036854775807e15 9223372036854775807", "9.223372036854775808e15 none",
           "1e16 none", "9e15 9000000000000000000");
}

TEST(a_huge_exponent_is_no_danger) {
    EXPECT(3, "1e9999 none", "-1e9999 none", "1e-9999 0", "9e-9999 0", "0e9999 0", "0.000e9999 0",
           "-0e9999 0", "1e9223372036854775807 none", "1e9223372036854775808 none",
           "1e99999999999999999999999999999999999999 none",
           "1e-99999999999999999999999999999999999999 0",
           "0e99999999999999999999999999999999999999 0",
           /* a fraction and an exponent that cancel out */
           "0.00000000000000000000000000000000000000001e41 1000",
           "10000000000000000000000000000000000000000e-40 1000",
           "0.00000000000000000000000000000000000000005e37 1");
}

/* A million zeros and an exponent of the same size cancel each other. */
TEST(a_long_fraction_and_its_exponent_cancel_out) {
    enum { ZEROS = 1000000 };
    char *text = malloc(ZEROS + 32);
    assert_non_null(text);
    memset(text, '0', 2 + ZEROS);
    text[1] = '.';
    int tail = sprintf(text + 2 + ZEROS, "1234e%d", ZEROS + 1);
    int64_t value = 0;
    assert_true(tm_number_scaled(text, 2 + ZEROS + (size_t)tail, 3, &value));
    assert_int_equal(value, 1234); /* 1.234 us */
    free(text);
}

/* Compares every text of this form with a result of integer arithmetic. */
TEST(thousandths_are_exact_wherever_the_time_lies) {
    static const int64_t begins[] = {0, 999, 4503599627370, 1713200000000123, 9223372036854774};
    for (size_t i = 0; i < COUNT(begins); i++)
        for (int fraction = 0; fraction < 10000; fraction += i == 0 ? 1 : 7) {
            char text[64];
            int64_t value = 0;
            int n = snprintf(text, sizeof text, "%" PRId64 ".%04d", begins[i], fraction);
            assert_true(tm_number_scaled(text, (size_t)n, 3, &value));
            assert_int_equal(value, begins[i] * 1000 + (fraction + 5) / 10);
        }
}

TEST(an_integer_is_one_in_value_and_in_range) {
    EXPECT(INTEGER, "7 7", "-7 -7", "0 0", "-0 0", "7.0 7", "7.000 7", "1e3 1000", "1.5e1 15",
           "1500e-2 15", "0.0 0", "0e-5 0", "7.5 none", "7.00000000000000000000000001 none",
           "1e-1 none", "1.55e1 none", "151e-1 none", "0.1 none", "1e-999999999999 none",
           "9223372036854775807 9223372036854775807", "9223372036854775807.0 9223372036854775807",
           "9223372036854775808 none", "-9223372036854775808 -9223372036854775808",
           "-9223372036854775809 none", "18446744073709551616 none", "1e999999999999 none");
}

TEST(a_real_is_the_nearest_double) {
    static const struct {
        const char *text; /* includes the characters after it in a document */
        double value;
    } cases[] = {
        {"0.5,", 0.5},
        {"12}", 12.0},
        {"-0.25]", -0.25},
        {"1e3 ", 1000.0},
        {"1E-2\n", 0.01},
        {"0.1,", 0.1},
        {"9007199254740993,", 9007199254740992.0}, /* a tie, which is rounded to even */
        {"9007199254740993.0000001,", 9007199254740994.0},
        {"1.7976931348623157e308,", 1.7976931348623157e308},
        {"4.9406564584124654e-324,", 4.9406564584124654e-324},
        {"1e-400,", 0.0},
        {"1e400,", HUGE_VAL},
        {"-1e400,", -HUGE_VAL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        double value = tm_number_real(cases[i].text);
        if (value != cases[i].value)
            fail_msg("%s: %.17g", cases[i].text, value);
    }
    assert_true(signbit(tm_number_real("-0,")));
}

RUN_TESTS()
