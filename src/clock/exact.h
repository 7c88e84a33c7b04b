/* Sums and medians that depend neither on the order of the values nor on their distribution over
 * processes. */
#ifndef TMERGE_EXACT_H
#define TMERGE_EXACT_H

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "clock/reduce.h"

/**
 * Returns the factor that converts reals to fixed point for exact sums: a power of two, at most
 * 2^51 / @p bound. A converted value is an integer of at most 51 bits. Rounding it is the only
 * error: 2^-52 of the bound. The sum of all values cannot overflow.
 *
 * @param bound  at least the sum of all absolute values over all processes; 0 if there are no
 *               values
 */
double tm_exact_scale(double bound);

/** Returns @p value times @p scale, rounded to the nearest integer. The product is exact, so that a
 * compiler may fuse it with the sum. */
static inline int64_t tm_exact_fixed(double value, double scale) {
    /* Above 2^52 the last bit of a double is worth 1: the low bits of the sum are the rounded
     * product. */
    const double shift = 0x1.8p52;
    const int64_t shift_bits = INT64_C(0x4338000000000000);
    double shifted = value * scale + shift;
    int64_t bits;
    assert(fabs(value * scale) <= 0x1p51);
    memcpy(&bits, &shifted, sizeof bits);
    return bits - shift_bits;
}

/** Converts a fixed-point sum back to a real. */
static inline double tm_exact_real(int64_t sum, double scale) {
    return (double)sum / scale;
}

/** Finds the lower medians of many lists at once. Each pass finds the next byte of each median. For
 * this, it takes the values that start with the known bytes of the median, and counts how often
 * each next byte occurs. Values are integers of at most 55 bits plus sign. */
typedef struct tm_median_search {
    uint64_t *known; /* [n_lists] known leading bytes of the median; owned */
    int64_t *rank;   /* [n_lists] position of the median among the values with these leading bytes;
                        owned */
    int64_t *counts; /* [n_lists * 256] number of values by next byte; owned */
    size_t n_lists;
    int pass; /* 0 to TM_MEDIAN_SEARCH_PASSES */
} tm_median_search;

enum { TM_MEDIAN_SEARCH_PASSES = 7, TM_MEDIAN_SEARCH_BYTE = 256 };

/** Allocates the search. Returns false if out of memory. The caller must free the search in any
 * case. */
bool tm_median_search_create(tm_median_search *select, size_t n_lists);
void tm_median_search_free(tm_median_search *select);

/** Starts the search. Call it before the first pass. */
void tm_median_search_begin(tm_median_search *select);

/** Adds a value [ns, integer]. Each pass must call it for every value of this process. */
void tm_median_search_add(tm_median_search *select, size_t list, double value);

/** Ends a pass. Collective over the reducer's processes. TM_OK; TM_ERR_FAULT. */
tm_status tm_median_search_next(tm_median_search *select, const tm_clock_reducer *reducer,
                                tm_error *err) TM_MUST_CHECK;

/** Returns the list's lower median after the last pass; 0 for an empty list. */
double tm_median_search_median(const tm_median_search *select, size_t list);

/** Histogram of magnitudes [ns] in sixteenths of an octave, from 16 ns (and below) to 2^36 ns. */
enum { TM_SPREAD_BINS = 513 };
void tm_spread_add(int64_t counts[TM_SPREAD_BINS], double magnitude);

/** Returns the median of the histogram, [ns], accurate to 3 % from 32 ns on; 0 if the histogram is
 * empty. */
double tm_spread_median(const int64_t counts[TM_SPREAD_BINS]);

#endif
