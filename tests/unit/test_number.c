/* Numbers: exact in every form in which profilers have written times. */
#include "readers/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In memory of exactly its size: nothing behind a number may be looked at. */
static char *exact(const char *text, size_t n) {
    char *copy = malloc(n);
    assert_non_null(copy);
    memcpy(copy, text, n);
    return copy;
}

typedef struct scaled_case {
    const char *text;
    int scale;
    bool fits;
    int64_t value;
} scaled_case;

static void expect_scaled(const scaled_case *cases, size_t n) {
    for (size_t i = 0; i < n; i++) {
        size_t n_text = strlen(cases[i].text);
        char *text = exact(cases[i].text, n_text);
        int64_t value = 0;
        bool fits = tm_number_scaled(text, n_text, cases[i].scale, &value);
        free(text);
        if (fits != cases[i].fits || (fits && value != cases[i].value))
            fail_msg("%s x 10^%d: %s %" PRId64 ", expected %s %" PRId64, cases[i].text,
                     cases[i].scale, fits ? "fits" : "does not fit", value,
                     cases[i].fits ? "fits" : "does not fit", cases[i].value);
    }
}

static void times_of_every_era_are_exact_to_the_nanosecond(void **state) {
    static const scaled_case cases[] = {
        /* to 2024-03: whole microseconds since the epoch; as a double, in ns, off by up to 128 */
        {"1604711800000123", 3, true, 1604711800000123000},
        {"1694128201545679", 3, true, 1694128201545679000},
        {"41", 3, true, 41000},
        {"0", 3, true, 0},
        /* 2024-04: with %03d behind the point; a double of 1.7e15 us has a grid of 0.25 us */
        {"1713200000000123.456", 3, true, 1713200000000123456},
        {"1713200000000123.001", 3, true, 1713200000000123001},
        {"1713200000000123.999", 3, true, 1713200000000123999},
        {"1713200000000123.4", 3, true, 1713200000000123400},
        {"1713200000000123.40", 3, true, 1713200000000123400},
        /* since: relative to the base */
        {"0.000", 3, true, 0},
        {"0.001", 3, true, 1},
        {"5.010", 3, true, 5010},
        {"5180637310.357", 3, true, 5180637310357},
        {"-1.500", 3, true, -1500},
        {"-0.001", 3, true, -1},
        {"-0.000", 3, true, 0},
        /* written again by programs that keep numbers as doubles */
        {"1.694128201545678e+15", 3, true, 1694128201545678000},
        {"1.694128201545678E15", 3, true, 1694128201545678000},
        {"1.7132000000001234e+15", 3, true, 1713200000000123400},
        {"1.71320000000012345e+15", 3, true, 1713200000000123450},
        {"1.7e+15", 3, true, 1700000000000000000},
        {"1713200000000123.2e0", 3, true, 1713200000000123200},
        {"17132000000001234560e-4", 3, true, 1713200000000123456},
        {"1e-3", 3, true, 1},
        {"1E-03", 3, true, 1},
        {"2.5e1", 3, true, 25000},
        {"3e0", 3, true, 3000},
        {"3e-0", 3, true, 3000},
        {"3e00000000000000001", 3, true, 30000},
    };
    expect_scaled(cases, COUNT(cases));
}

static void what_is_finer_is_rounded_half_away_from_zero(void **state) {
    static const scaled_case cases[] = {
        {"0.0004", 3, true, 0},
        {"0.0005", 3, true, 1},
        {"0.00049999999999999999999999", 3, true, 0},
        {"0.00050000000000000000000000", 3, true, 1},
        {"-0.0004", 3, true, 0},
        {"-0.0005", 3, true, -1},
        {"1.0004", 3, true, 1000},
        {"1.0005", 3, true, 1001},
        {"1.0015", 3, true, 1002}, /* to even would be 1002 too, ... */
        {"1.0025", 3, true, 1003}, /* ... here 1002 */
        {"-1.0025", 3, true, -1003},
        {"0.9995", 3, true, 1000},
        {"0.0000999", 3, true, 0},
        {"5e-4", 3, true, 1},
        {"49e-5", 3, true, 0},
        {"5e-5", 3, true, 0}, /* 0.05 ns: the 5 is not the first digit behind the point */
        {"999e-7", 3, true, 0},
        {"1713200000000123.4565", 3, true, 1713200000000123457},
        {"1713200000000123.456499999", 3, true, 1713200000000123456},
        {"1713200000000123.4560000000000000001", 3, true, 1713200000000123456},
        /* other scales: none, and downwards */
        {"7.5", 0, true, 8},
        {"-7.49", 0, true, -7},
        {"1499", -3, true, 1},
        {"1500", -3, true, 2},
        {"499", -3, true, 0},
        {"500", -3, true, 1},
        {"50", -3, true, 0},
    };
    expect_scaled(cases, COUNT(cases));
}

static void the_limits_of_64_bits_are_reached_and_not_passed(void **state) {
    static const scaled_case cases[] = {
        {"9223372036854775807", 0, true, INT64_MAX},
        {"9223372036854775808", 0, false, 0},
        {"-9223372036854775808", 0, true, INT64_MIN},
        {"-9223372036854775809", 0, false, 0},
        {"9223372036854775.807", 3, true, INT64_MAX},
        {"9223372036854775.808", 3, false, 0},
        {"-9223372036854775.808", 3, true, INT64_MIN},
        {"-9223372036854775.809", 3, false, 0},
        {"9223372036854775.8074", 3, true, INT64_MAX},
        {"9223372036854775.8075", 3, false, 0}, /* rounds beyond it */
        {"-9223372036854775.8084", 3, true, INT64_MIN},
        {"-9223372036854775.8085", 3, false, 0},
        {"9.223372036854775807e15", 3, true, INT64_MAX},
        {"9.223372036854775808e15", 3, false, 0},
        {"18446744073709551615", 0, false, 0},
        {"18446744073709551615.5", 0, false, 0}, /* rounding leaves 64 bits */
        {"18446744073709551616", 0, false, 0},
        {"99999999999999999999999999999999", 0, false, 0},
        {"-99999999999999999999999999999999", 0, false, 0},
        {"9223372036854775807e1", 0, false, 0},
        {"9223372036854775807e-1", 0, true, 922337203685477581}, /* ..580.7 */
        {"1e16", 3, false, 0},
        {"9e15", 3, true, 9000000000000000000},
        {"1e18", 0, true, 1000000000000000000},
        {"1e19", 0, false, 0},
    };
    expect_scaled(cases, COUNT(cases));
}

static void a_huge_exponent_is_no_danger(void **state) {
    static const scaled_case cases[] = {
        {"1e9999", 3, false, 0},
        {"-1e9999", 3, false, 0},
        {"1e-9999", 3, true, 0},
        {"9e-9999", 3, true, 0},
        {"0e9999", 3, true, 0},
        {"0.000e9999", 3, true, 0},
        {"-0e9999", 3, true, 0},
        {"1e9223372036854775807", 3, false, 0},
        {"1e9223372036854775808", 3, false, 0},
        {"1e99999999999999999999999999999999999999", 3, false, 0},
        {"1e-99999999999999999999999999999999999999", 3, true, 0},
        {"0e99999999999999999999999999999999999999", 3, true, 0},
        /* a fraction and an exponent that cancel out */
        {"0.00000000000000000000000000000000000000001e41", 3, true, 1000},
        {"10000000000000000000000000000000000000000e-40", 3, true, 1000},
        {"0.00000000000000000000000000000000000000005e37", 3, true, 1}, /* 0.5 ns */
    };
    expect_scaled(cases, COUNT(cases));
}

/* A million zeros in the text itself, against an exponent of as many. */
static void a_long_fraction_and_its_exponent_cancel_out(void **state) {
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

/* Every text of this form, told apart by arithmetic on integers alone. */
static void thousandths_are_exact_wherever_the_time_lies(void **state) {
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

static void an_integer_is_one_in_value_and_in_range(void **state) {
    static const struct {
        const char *text;
        bool valid;
        int64_t value;
    } cases[] = {
        {"7", true, 7},
        {"-7", true, -7},
        {"0", true, 0},
        {"-0", true, 0},
        {"7.0", true, 7},
        {"7.000", true, 7},
        {"1e3", true, 1000},
        {"1.5e1", true, 15},
        {"1500e-2", true, 15},
        {"0.0", true, 0},
        {"0e-5", true, 0},
        {"7.5", false, 0},
        {"7.00000000000000000000000001", false, 0},
        {"1e-1", false, 0},
        {"1.55e1", false, 0},
        {"151e-1", false, 0},
        {"0.1", false, 0},
        {"1e-999999999999", false, 0},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775807.0", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"-9223372036854775808", true, INT64_MIN},
        {"-9223372036854775809", false, 0},
        {"18446744073709551616", false, 0},
        {"1e999999999999", false, 0},
        {"9007199254740993", true, 9007199254740993}, /* 2^53 + 1 is no double */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t n_text = strlen(cases[i].text);
        char *text = exact(cases[i].text, n_text);
        int64_t value = 0;
        bool valid = tm_number_int(text, n_text, &value);
        free(text);
        if (valid != cases[i].valid || (valid && value != cases[i].value))
            fail_msg("%s: %d, %" PRId64, cases[i].text, valid, value);
    }
}

static void a_real_is_the_nearest_double(void **state) {
    static const struct {
        const char *text; /* with what stands behind it in a document */
        double value;
    } cases[] = {
        {"0.5,", 0.5},
        {"12}", 12.0},
        {"-0.25]", -0.25},
        {"1e3 ", 1000.0},
        {"1E-2\n", 0.01},
        {"0.1,", 0.1},
        {"9007199254740993,", 9007199254740992.0}, /* a tie, to even */
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

int main(void) {
    return RUN(times_of_every_era_are_exact_to_the_nanosecond,
               what_is_finer_is_rounded_half_away_from_zero,
               the_limits_of_64_bits_are_reached_and_not_passed, a_huge_exponent_is_no_danger,
               a_long_fraction_and_its_exponent_cancel_out,
               thousandths_are_exact_wherever_the_time_lies,
               an_integer_is_one_in_value_and_in_range, a_real_is_the_nearest_double);
}
