/* Means and medians: of whole numbers rounded half away from zero, of reals as they are. */
#ifndef TMERGE_MEDIAN_H
#define TMERGE_MEDIAN_H

#include <stddef.h>
#include <stdint.h>

/** The nearest integer to numerator / denominator (above 0), half away from zero. */
int64_t tm_round_ratio(int64_t numerator, int64_t denominator);

/** Sorts [n] values ascending. */
void tm_sort_values(int64_t *values, size_t n);

/** The same of reals, none of which is NaN; -0.0 may stand before 0.0. */
void tm_sort_reals(double *values, size_t n);

/** The median of [n >= 1] ascending values; of an even number, the mean of the middle two. */
int64_t tm_median(const int64_t *sorted, size_t n);

/** Moves the k-th smallest (from 0) of [n > k] values to place k, none larger before it, none
 * smaller behind it, and returns it. Faster than sorting where a few percentiles are wanted. */
int64_t tm_select(int64_t *values, size_t n, size_t k);

/** Sorts [n_samples <= n, 2 at least] of [n] values, evenly apart, into another array. */
void tm_sort_samples(const int64_t *values, size_t n, int64_t *sorted, size_t n_samples);

/** tm_median of [n >= 1] values in any order, which are moved about. */
int64_t tm_median_any(int64_t *values, size_t n);

/** The 95th percentile of them, by nearest rank. */
int64_t tm_percentile_95(int64_t *values, size_t n);

/** The same of reals. */
double tm_select_real(double *values, size_t n, size_t k);
double tm_median_real(double *values, size_t n);

#endif
