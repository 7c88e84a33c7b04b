/* Numbers as decimal text, the same in JSON and CSV: what is read back is what was written. */
#ifndef TMERGE_TABLE_DIGITS_H
#define TMERGE_TABLE_DIGITS_H

#include <stdint.h>

/** Room for any number below: 17 digits, sign, point and exponent, or 20 characters of an int64;
 * the rest is for the compiler, which cannot know how few digits are asked for. */
enum { TM_DIGITS_MAX = 40 };

/** All digits of an integer, exact. */
void tm_digits_int(int64_t value, char out[TM_DIGITS_MAX]);

/**
 * The fewest digits that give the same double again. There is always a point or an exponent
 * ("2.0"), so that readers that tell integers from reals keep the column's type.
 *
 * @param value  finite
 */
void tm_digits_real(double value, char out[TM_DIGITS_MAX]);

#endif
