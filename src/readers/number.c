#include "number.h"

#include <stdlib.h>

/* Limit of exponents, so that sums of exponents do not overflow. A number with a larger exponent
 * does not fit into int64 anyway. */
enum { EXPONENT_MAX = 1000000 };

typedef struct decimal {
    /* the text of the digits, which may contain one decimal point */
    const char *digits, *digits_end;
    /* number of digits before the decimal point, after the exponent has moved the point */
    long point;
    bool negative;
} decimal;

static decimal split(const char *text, size_t size) {
    const char *end = text + size;
    decimal d = {.negative = *text == '-'};
    d.digits = text + d.negative;
    const char *p = d.digits;
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    d.point = (long)(p - d.digits);
    while (p < end && *p != 'e' && *p != 'E')
        p++;
    d.digits_end = p;
    if (p == end)
        return d;
    p++;
    bool down = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    long exponent = 0;
    for (; p < end && exponent < EXPONENT_MAX; p++)
        exponent = exponent * 10 + (*p - '0');
    d.point += down ? -exponent : exponent;
    return d;
}

static bool push_digit(uint64_t *value, unsigned digit) {
    if (*value > (UINT64_MAX - digit) / 10)
        return false;
    *value = *value * 10 + digit;
    return true;
}

static bool with_sign(uint64_t value, bool negative, int64_t *out) {
    if (value > (uint64_t)INT64_MAX + negative)
        return false;
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

/* Reads the digits before the decimal point, which the exponent has moved. Sets *rest to the first
 * digit after the point, or to -1 if there is none. Sets *more to whether any digit after the point
 * is not 0. */
static bool integer_part(const decimal *d, uint64_t *value, int *rest, bool *more) {
    long at = 0;
    const char *p = d->digits;
    *value = 0;
    *rest = d->point < 0 ? 0 : -1;
    *more = false;
    for (; p < d->digits_end; p++) {
        if (*p == '.')
            continue;
        unsigned digit = (unsigned)(*p - '0');
        if (at < d->point) {
            if (!push_digit(value, digit))
                return false;
        } else {
            if (at == d->point)
                *rest = (int)digit;
            *more |= digit != 0;
        }
        at++;
    }
    for (; at < d->point && *value != 0; at++)
        if (!push_digit(value, 0))
            return false;
    return true;
}

bool tm_number_scaled(const char *text, size_t size, int scale, int64_t *out) {
    decimal d = split(text, size);
    d.point += scale;
    uint64_t value;
    int rest;
    bool more;
    if (!integer_part(&d, &value, &rest, &more))
        return false;
    if (rest >= 5 && value++ == UINT64_MAX)
        return false;
    return with_sign(value, d.negative, out);
}

bool tm_number_int(const char *text, size_t size, int64_t *out) {
    decimal d = split(text, size);
    uint64_t value;
    int rest;
    bool more;
    return integer_part(&d, &value, &rest, &more) && !more && with_sign(value, d.negative, out);
}

bool tm_number_uint(const char *text, size_t size, uint64_t *out) {
    decimal d = split(text, size);
    uint64_t value;
    int rest;
    bool more;
    if (!integer_part(&d, &value, &rest, &more) || more || (d.negative && value != 0))
        return false;
    *out = value;
    return true;
}

/* A number of up to 15 digits and a power of ten up to 10^15 are both exact as doubles. So their
 * quotient is rounded only once, to the nearest double. Texts with more digits or larger exponents
 * are converted by strtod. */
double tm_number_real(const char *text) {
    static const double power[] = {1.0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char *p = text + (*text == '-');
    uint64_t digits = 0;
    int n = 0, after = 0;
    for (; *p >= '0' && *p <= '9' && n < 16; p++, n++)
        digits = digits * 10 + (unsigned)(*p - '0');
    if (*p == '.')
        for (p++; *p >= '0' && *p <= '9' && n < 16; p++, n++, after++)
            digits = digits * 10 + (unsigned)(*p - '0');
    if (n > 15 || *p == 'e' || *p == 'E')
        return strtod(text, NULL); /* valid because the program never changes the C locale */
    double value = (double)digits / power[after];
    return *text == '-' ? -value : value;
}
