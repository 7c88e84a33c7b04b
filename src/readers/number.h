/* Converts JSON number texts to integers, times and reals exactly; times never become doubles. */
#ifndef TMERGE_NUMBER_H
#define TMERGE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Converts a JSON number to an integer: its value x 10^scale, rounded half away from zero. For
 * times in microseconds scale is 3 and the result is in nanoseconds.
 *
 * @param text   [size] a valid JSON number
 * @return       false if the result does not fit int64
 */
bool tm_number_scaled(const char *text, size_t size, int scale, int64_t *out);

/** Converts a JSON number whose value is an integer, such as "7", "7.0" or "1e3". Returns false if
 * the value is not an integer, or does not fit int64. */
bool tm_number_int(const char *text, size_t size, int64_t *out);

/** tm_number_int for uint64: handles and addresses use all 64 bits. */
bool tm_number_uint(const char *text, size_t size, uint64_t *out);

/** Converts a JSON number to the nearest double; infinity if out of range. The byte after the
 * number must not be able to continue it, as always in a JSON document. */
double tm_number_real(const char *text);

#endif
