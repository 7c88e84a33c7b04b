/* Numbers as decimal text for JSON and CSV. Reading a number back gives the same value. */
#ifndef TMERGE_TABLE_DIGITS_H
#define TMERGE_TABLE_DIGITS_H

#include <stdint.h>

/** Size of a buffer for any number printed here: 17 digits, sign, point and exponent, or the 20
 * characters of an int64. It is larger than needed, because compilers would warn about a smaller
 * one. */
enum { TM_DIGITS_MAX = 40 };

/** Prints all digits of an integer, exactly. */
void tm_digits_int(int64_t value, char out[TM_DIGITS_MAX]);

/**
 * Prints the fewest digits that read back as the same double. Always includes a point or an
 * exponent ("2.0"), so that readers that distinguish integers from reals keep the column's type.
 *
 * @param value  finite
 */
void tm_digits_real(double value, char out[TM_DIGITS_MAX]);

#endif
