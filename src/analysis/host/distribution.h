/* Sum, standard deviation and median of the values of many ranks, from each rank's own statistics
 * and a limited number of its values. */
#ifndef TMERGE_DISTRIBUTION_H
#define TMERGE_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Statistics of values. Those of ranks can be merged. */
typedef struct tm_distribution {
    int64_t n, sum, min, max;
    double squares; /* sum of squared distances from the mean */
} tm_distribution;

/** Computes the statistics of n ascending values; n must not be 0. */
tm_distribution tm_distribution_of(const int64_t *sorted, size_t n);

/** Adds @p other to @p into, which may be empty. Rounding makes the last digits of `squares` depend
 * on the order. */
void tm_distribution_join(tm_distribution *into, const tm_distribution *other);

double tm_distribution_mean(const tm_distribution *d);

/** Returns the sample standard deviation (divisor n - 1); 0 for one value. */
double tm_distribution_deviation(const tm_distribution *d);

/** Returns how many different values n ascending values have. */
size_t tm_distinct(const int64_t *sorted, size_t n);

/** Returns how many values may be kept for each name, so that all names together keep
 * at most @p room.
 * @param distinct  [n_names] number of different values of each name */
size_t tm_room_for_each(const size_t *distinct, size_t n_names, size_t room);

/** A kept value and the number of values it represents. */
typedef struct tm_kept {
    int64_t value, count;
} tm_kept;

/** Gets the next value to keep; returns false after the last. If there are at most @p room
 * different values, each of them is kept. Otherwise the values are divided into @p room equal
 * parts, and the median of each part is kept. *at must be 0 before the first call. */
bool tm_keep_next(const int64_t *sorted, size_t n, size_t distinct, size_t room, size_t *at,
                  tm_kept *out);

#endif
