#include "distribution.h"

#include <math.h>

#include "base/sums.h"

tm_distribution tm_distribution_of(const int64_t *sorted, size_t n) {
    tm_distribution d = {.n = (int64_t)n, .min = sorted[0], .max = sorted[n - 1]};
    for (size_t i = 0; i < n; i++)
        d.sum = tm_sum(d.sum, sorted[i]);
    const double mean = tm_distribution_mean(&d);
    for (size_t i = 0; i < n; i++)
        d.squares += ((double)sorted[i] - mean) * ((double)sorted[i] - mean);
    return d;
}

void tm_distribution_join(tm_distribution *into, const tm_distribution *other) {
    if (into->n == 0) {
        *into = *other;
        return;
    }
    const double n = (double)into->n, m = (double)other->n;
    const double apart = tm_distribution_mean(other) - tm_distribution_mean(into);
    into->squares += other->squares + apart * apart * (n * m / (n + m));
    into->n += other->n;
    into->sum = tm_sum(into->sum, other->sum);
    into->min = other->min < into->min ? other->min : into->min;
    into->max = other->max > into->max ? other->max : into->max;
}

double tm_distribution_mean(const tm_distribution *d) {
    return (double)d->sum / (double)d->n;
}

double tm_distribution_deviation(const tm_distribution *d) {
    return d->n > 1 ? sqrt(d->squares / (double)(d->n - 1)) : 0.0;
}

size_t tm_distinct(const int64_t *sorted, size_t n) {
    size_t distinct = n > 0;
    for (size_t i = 1; i < n; i++)
        distinct += sorted[i] != sorted[i - 1];
    return distinct;
}

size_t tm_room_for_each(const size_t *distinct, size_t n_names, size_t room) {
    for (size_t each = room; each > 1; each /= 2) {
        size_t sum = 0;
        for (size_t i = 0; i < n_names; i++)
            sum += distinct[i] < each ? distinct[i] : each;
        if (sum <= room)
            return each;
    }
    return 1;
}

bool tm_keep_next(const int64_t *sorted, size_t n, size_t distinct, size_t room, size_t *at,
                  tm_kept *out) {
    const size_t first = *at;
    size_t end = first;
    if (first >= n)
        return false;
    if (distinct <= room) {
        while (end < n && sorted[end] == sorted[first])
            end++;
    } else {
        /* If not all parts can have the same size, the first n % room parts have one more value. */
        const size_t each = n / room, longer = n % room;
        end += each + (first < longer * (each + 1));
    }
    *out = (tm_kept){sorted[first + (end - first - 1) / 2], (int64_t)(end - first)};
    *at = end;
    return true;
}
