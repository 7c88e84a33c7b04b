#include "table/digits.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tm_digits_int(int64_t value, char out[TM_DIGITS_MAX]) {
    char reversed[TM_DIGITS_MAX];
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t n = 0;
    do
        reversed[n++] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (value < 0)
        reversed[n++] = '-';
    while (n > 0)
        *out++ = reversed[--n];
    *out = '\0';
}

/* A real that is an integer, counts and whole percents being frequent: below 2^53 every integer is
 * a double, and printing one as an integer is several times faster. */
static bool print_whole(double value, char out[TM_DIGITS_MAX]) {
    if (!(fabs(value) < 1e15) || value != floor(value) || (value == 0 && signbit(value)))
        return false;
    snprintf(out, TM_DIGITS_MAX, "%" PRId64 ".0", (int64_t)value);
    return true;
}

/* The fewest digits that could do. From a table of ratios most reals need 16 or 17, and printing
 * 15 to find that out is half the time of a document: here value = whole / power is tried with 15
 * digits in whole. Both are exact doubles (10^22 is the last power that is), so that the quotient
 * is what strtod would make of those digits. */
static int fewest_digits(double value) {
    double size = fabs(value);
    if (size < DBL_MIN) /* subnormals may hold fewer than 15 */
        return 1;
    if (size < 1e-7 || size >= 1e15)
        return DBL_DIG;
    double power = 1;
    while (size * power < 1e14)
        power *= 10;
    double whole = round(size * power);
    return whole / power == size ? DBL_DIG : DBL_DIG + 1;
}

void tm_digits_real(double value, char out[TM_DIGITS_MAX]) {
    if (print_whole(value, out))
        return;
    /* What has fewer than 15 digits comes out of %.15g as it is, for %g drops trailing zeros. */
    for (int digits = fewest_digits(value); digits <= DBL_DECIMAL_DIG; digits++) {
        snprintf(out, TM_DIGITS_MAX, "%.*g", digits, value);
        if (digits == DBL_DECIMAL_DIG || strtod(out, NULL) == value)
            break;
    }
    if (value == floor(value) && !strpbrk(out, ".e"))
        memcpy(out + strlen(out), ".0", sizeof ".0");
}
