/* Values of many ranks as what tells their sum, spread and median: of each rank its sums, and as
 * many of its values as there is room for. */
#ifndef TMERGE_DISTRIBUTION_H
#define TMERGE_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The sums of values, of which no other is needed for those of several ranks. */
typedef struct tm_distribution {
    int64_t n, sum, min, max;
    double squares; /* sum of squared distances from the mean */
} tm_distribution;

/** Of [n >= 1] ascending values. */
tm_distribution tm_distribution_of(const int64_t *sorted, size_t n);

/** Those of both; `into` may have none. The order of ranks decides the last digits. */
void tm_distribution_join(tm_distribution *into, const tm_distribution *other);

double tm_distribution_mean(const tm_distribution *d);

/** The sample's standard deviation, by n - 1; of one value 0. */
double tm_distribution_deviation(const tm_distribution *d);

/** How many of [n] ascending values differ. */
size_t tm_distinct(const int64_t *sorted, size_t n);

/** The most values of a name such that those of all names are at most @p room, by the numbers of
 * different ones that they have. */
size_t tm_room_for_each(const size_t *distinct, size_t n_names, size_t room);

/** One of the values that are kept, and how many it stands for. */
typedef struct tm_kept {
    int64_t value, count;
} tm_kept;

/** The @p i-th of those kept, from 0, false behind the last: each different value where there are
 * at most @p room, else those in the middle of @p room equal parts. @p at is 0 at first. */
bool tm_keep_next(const int64_t *sorted, size_t n, size_t distinct, size_t room, size_t *at,
                  tm_kept *out);

#endif
