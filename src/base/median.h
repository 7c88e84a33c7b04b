/* Means and medians: integers are rounded half away from zero, reals are not rounded. */
#ifndef TMERGE_MEDIAN_H
#define TMERGE_MEDIAN_H

#include <stddef.h>
#include <stdint.h>

/** Returns the integer nearest to numerator / denominator (above 0), half away from zero. */
int64_t tm_round_ratio(int64_t numerator, int64_t denominator);

/** Sorts [n] values ascending. */
void tm_sort_values(int64_t *values, size_t n);

/** Sorts [n] reals ascending. None is NaN; -0.0 may come before 0.0. */
void tm_sort_reals(double *values, size_t n);

/** Returns the median of [n >= 1] ascending values. If n is even, this is the mean of the middle
 * two values. */
int64_t tm_median(const int64_t *sorted, size_t n);

/** Moves the k-th smallest (from 0) of [n > k] values to index k, and returns it. Smaller values
 * are then before it, and larger values after it. Faster than sorting if only a few percentiles are
 * needed. */
int64_t tm_select(int64_t *values, size_t n, size_t k);

/** Takes [n_samples <= n, at least 2] evenly spaced samples of [n] values and sorts them into
 * another array. */
void tm_sort_samples(const int64_t *values, size_t n, int64_t *sorted, size_t n_samples);

/** Returns tm_median of [n >= 1] values in any order; reorders them. */
int64_t tm_median_any(int64_t *values, size_t n);

/** Returns the 95th percentile by nearest rank; reorders the values. */
int64_t tm_percentile_95(int64_t *values, size_t n);

/** tm_select and tm_median_any for reals. */
double tm_select_real(double *values, size_t n, size_t k);
double tm_median_real(double *values, size_t n);

#endif
