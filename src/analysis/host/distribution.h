/* Mergeable statistics of values of many ranks: each rank's moments and a bounded number of its
 * values give the sum, standard deviation and median of all. */
#ifndef TMERGE_DISTRIBUTION_H
#define TMERGE_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Moments of values. Those of several ranks can be computed from each rank's. */
typedef struct tm_distribution {
    int64_t n, sum, min, max;
    double squares; /* sum of squared distances from the mean */
} tm_distribution;

/** Computes the moments of [n >= 1] ascending values. */
tm_distribution tm_distribution_of(const int64_t *sorted, size_t n);

/** Adds @p other to @p into, which may be empty. The last digits depend on the order of ranks. */
void tm_distribution_join(tm_distribution *into, const tm_distribution *other);

double tm_distribution_mean(const tm_distribution *d);

/** Returns the sample standard deviation (divisor n - 1); 0 for one value. */
double tm_distribution_deviation(const tm_distribution *d);

/** Counts the different values among [n] ascending values. */
size_t tm_distinct(const int64_t *sorted, size_t n);

/** Returns a limit of kept values per name such that all names together keep at most @p room.
 * @param distinct  [n_names] number of different values of each name */
size_t tm_room_for_each(const size_t *distinct, size_t n_names, size_t room);

/** A kept value and the number of values it represents. */
typedef struct tm_kept {
    int64_t value, count;
} tm_kept;

/** Returns the next kept value, false after the last: each different value if there are at most @p
 * room, else the medians of @p room equal parts. @p at must be 0 at first. */
bool tm_keep_next(const int64_t *sorted, size_t n, size_t distinct, size_t room, size_t *at,
                  tm_kept *out);

#endif
