/* Sums and medians that do not depend on the order or the place of their values. */
#ifndef TMERGE_EXACT_H
#define TMERGE_EXACT_H

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "clock/reduce.h"

/**
 * Factor that turns reals into fixed point, so that their sum is exact: a power of two, at most
 * 2^51 / @p bound. What is added is then a whole number of at most 51 bits (its rounding is the
 * one error, 2^-52 of the bound), and a sum whose parts stay within the bound has room for 2^11 of
 * its size: it cannot overflow.
 *
 * @param bound  at least the sum of all absolute values over all processes; 0 where there are none
 */
double tm_exact_scale(double bound);

/** @p value times @p scale, rounded to the nearest whole number. The product is exact, so that it
 * makes no difference whether a compiler fuses it with the sum. */
static inline int64_t tm_exact_fixed(double value, double scale) {
    /* Above 2^52 the last bit of a double counts ones: the sum's bits are the rounded product's. */
    const double shift = 0x1.8p52;
    const int64_t shift_bits = INT64_C(0x4338000000000000);
    double shifted = value * scale + shift;
    int64_t bits;
    assert(fabs(value * scale) <= 0x1p51);
    memcpy(&bits, &shifted, sizeof bits);
    return bits - shift_bits;
}

/** What a fixed-point sum stands for. */
static inline double tm_exact_real(int64_t sum, double scale) {
    return (double)sum / scale;
}

/**
 * Lower medians of many lists at once, found a byte at a time: each pass counts, for the values
 * that agree with what is known of their list's median, which byte comes next. Values are whole
 * numbers of at most 55 bits and a sign.
 */
typedef struct tm_median_search {
    uint64_t *known; /* [n_lists] leading bytes; owned */
    int64_t *rank;   /* [n_lists] place of the median among the values that begin so; owned */
    int64_t *counts; /* [n_lists * 256]; owned */
    size_t n_lists;
    int pass; /* 0 to TM_MEDIAN_SEARCH_PASSES */
} tm_median_search;

enum { TM_MEDIAN_SEARCH_PASSES = 7, TM_MEDIAN_SEARCH_BYTE = 256 };

/** False when memory is out; freed by the caller in any case. */
bool tm_median_search_create(tm_median_search *select, size_t n_lists);
void tm_median_search_free(tm_median_search *select);

/** Before the first pass. */
void tm_median_search_begin(tm_median_search *select);

/** In each pass, for every value [ns, whole] of this process. */
void tm_median_search_add(tm_median_search *select, size_t list, double value);

/** Ends a pass. Collective over the reducer's processes. */
tm_status tm_median_search_next(tm_median_search *select, const tm_clock_reducer *reducer,
                                tm_error *err) TM_MUST_CHECK;

/** After the last pass: the list's lower median; an empty list's is 0. */
double tm_median_search_median(const tm_median_search *select, size_t list);

/** Counts of magnitudes [ns] in sixteenths of an octave, from 16 ns (and below) to 2^36 ns. */
enum { TM_SPREAD_BINS = 513 };
void tm_spread_add(int64_t counts[TM_SPREAD_BINS], double magnitude);

/** Median of what was counted, 3 % accurate from 32 ns on; 0 where nothing was. */
double tm_spread_median(const int64_t counts[TM_SPREAD_BINS]);

#endif
