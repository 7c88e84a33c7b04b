/* Sum, standard deviation and median of the values of many ranks. They are computed from statistics
 * of each rank and from a limited number of each rank's values. */
#ifndef TMERGE_DISTRIBUTION_H
#define TMERGE_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Statistics of values. Statistics of several ranks can be merged. */
typedef struct tm_distribution {
    int64_t n, sum, min, max;
    double squares; /* sum of squared deviations from the mean */
} tm_distribution;

/** Returns the statistics of n ascending values, n > 0. */
tm_distribution tm_distribution_of(const int64_t *sorted, size_t n);

/** Adds @p other to @p into, which may be empty. Because of rounding, the last digits of `squares`
 * depend on the order of calls. */
void tm_distribution_join(tm_distribution *into, const tm_distribution *other);

double tm_distribution_mean(const tm_distribution *d);

/** Returns the sample standard deviation (divisor n - 1); 0 for one value. */
double tm_distribution_deviation(const tm_distribution *d);

/** Returns the number of distinct values among n ascending values. */
size_t tm_distinct(const int64_t *sorted, size_t n);

/** Returns how many values to keep for each name, so that all names together keep at most @p room.
 * @param distinct [n_names] number of distinct values of each name */
size_t tm_room_for_each(const size_t *distinct, size_t n_names, size_t room);

/** A kept value, and the number of values that it represents. */
typedef struct tm_kept {
    int64_t value, count;
} tm_kept;

/** Finds the next value to keep. Returns false if there are no more. If there are at most @p room
 * distinct values, keeps each of them. Otherwise divides the values into @p room equal parts, and
 * keeps the median of each. *at must be 0 before the first call. */
bool tm_keep_next(const int64_t *sorted, size_t n, size_t distinct, size_t room, size_t *at,
                  tm_kept *out);

#endif
