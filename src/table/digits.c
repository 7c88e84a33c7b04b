#include "table/digits.h"

#include <float.h>
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

/* Prints a real that is an integer; counts and whole percentages are frequent. Every integer below
 * 2^53 is an exact double, and printing it as an integer is several times faster. */
static bool print_whole(double value, char out[TM_DIGITS_MAX]) {
    if (!(fabs(value) < 1e15) || value != floor(value) || (value == 0 && signbit(value)))
        return false;
    tm_digits_int((int64_t)value, out);
    memcpy(out + strlen(out), ".0", sizeof ".0");
    return true;
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;

/* A real number as an exact ratio of integers: mantissa / 2^shift. It is multiplied by a power of
 * ten that gives 17 digits before the point: digits = floor(mantissa * power / 2^shift), and rest
 * is the remainder. */
typedef struct decimal {
    uint64_t mantissa, power, digits;
    wide scaled, rest; /* `scaled` is mantissa * power, and below 2^53 * 10^19 */
    int shift, places; /* power = 10^places */
} decimal;

/* Returns the decimal of a real that is between 0.001 and 10^15 and not an integer. */
static decimal take_apart(double size) {
    int exponent;
    decimal d = {.mantissa = (uint64_t)ldexp(frexp(size, &exponent), DBL_MANT_DIG), .power = 1};
    d.shift = DBL_MANT_DIG - exponent;
    while (size * (double)d.power < 1e16) {
        d.power *= 10;
        d.places++;
    }
    d.scaled = (wide)d.mantissa * d.power;
    d.digits = (uint64_t)(d.scaled >> d.shift);
    d.rest = d.scaled - ((wide)d.digits << d.shift);
    return d;
}

/* Rounds to the nearest multiple of a unit of the last digit, ties to even, like printf. */
static uint64_t round_digits(const decimal *d, uint64_t unit) {
    const uint64_t whole = d->digits / unit, left = d->digits % unit;
    const wide twice = 2 * (((wide)left << d->shift) + d->rest), one = (wide)unit << d->shift;
    return (whole + (twice > one || (twice == one && whole % 2))) * unit;
}

/* Returns whether strtod reads @p digits as the same double. It does if the digits differ from the
 * double by less than half the distance to the next double. (Just below a power of two, doubles are
 * half as far apart.) In a tie, strtod chooses the double with the even mantissa. */
static bool reads_back(const decimal *d, uint64_t digits) {
    const wide read = (wide)digits << d->shift;
    const bool below = read < d->scaled, narrow = d->mantissa == (uint64_t)1 << (DBL_MANT_DIG - 1);
    const wide apart = (below ? d->scaled - read : read - d->scaled) * (below && narrow ? 4 : 2);
    return apart < d->power || (apart == d->power && d->mantissa % 2 == 0);
}

/* Prints common reals quickly. A ratio has 16 or 17 digits: with printf and strtod, such numbers
 * would take half the time of writing a document. */
static bool print_usual(double value, char out[TM_DIGITS_MAX]) {
    const double size = fabs(value);
    if (!(size >= 1e-3 && size < 1e15))
        return false;
    const decimal d = take_apart(size);
    uint64_t digits = round_digits(&d, 100);
    digits = reads_back(&d, digits) ? digits : round_digits(&d, 10);
    digits = reads_back(&d, digits) ? digits : round_digits(&d, 1);
    char *at = out;
    *at = '-';
    at += value < 0;
    tm_digits_int((int64_t)(digits / d.power), at);
    at += strlen(at);
    *at++ = '.';
    for (uint64_t left = digits % d.power, place = d.power / 10; left > 0; place /= 10) {
        *at++ = (char)('0' + left / place);
        left %= place;
    }
    *at = '\0';
    return true;
}
#else
static bool print_usual(double value, char out[TM_DIGITS_MAX]) {
    (void)value, (void)out;
    return false;
}
#endif

void tm_digits_real(double value, char out[TM_DIGITS_MAX]) {
    if (print_whole(value, out) || print_usual(value, out))
        return;
    /* 15 digits are the precision of a double that is not subnormal. %g drops trailing zeros. */
    for (int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
        snprintf(out, TM_DIGITS_MAX, "%.*g", digits, value);
        if (digits == DBL_DECIMAL_DIG || strtod(out, NULL) == value)
            break;
    }
    if (value == floor(value) && !strpbrk(out, ".e"))
        memcpy(out + strlen(out), ".0", sizeof ".0");
}
