#include "median.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"

int64_t tm_round_ratio(int64_t numerator, int64_t denominator) {
    int64_t whole = numerator / denominator, rest = numerator % denominator;
    if (rest < 0)
        return whole - (-rest >= denominator - -rest);
    return whole + (rest >= denominator - rest);
}

static int by_real(const void *a, const void *b) {
    return tm_order_real(*(const double *)a, *(const double *)b);
}

/* Parameters of the radix sort. A pass sorts by FEW_BITS bits if there are fewer than MANY values;
 * otherwise it sorts by MANY_BITS bits. Fewer than DIGITS_LEAST values are sorted by comparison. */
enum { FEW_BITS = 8, MANY_BITS = 11, MANY = 4096, DIGITS_MAX = 1 << MANY_BITS, DIGITS_LEAST = 64 };

static unsigned bits_of(size_t n) {
    return n < MANY ? FEW_BITS : MANY_BITS;
}

/* One pass of the radix sort: writes the values to `out`, sorted by one digit of their difference
 * to the minimum. */
static void sort_digit(const int64_t *values, size_t n, int64_t least, unsigned shift,
                       int64_t *out) {
    const size_t digits = (size_t)1 << bits_of(n);
    size_t at[DIGITS_MAX + 1];
    memset(at, 0, (digits + 1) * sizeof *at);
    for (size_t i = 0; i < n; i++)
        at[((((uint64_t)values[i] - (uint64_t)least) >> shift) & (digits - 1)) + 1]++;
    for (size_t d = 0; d < digits; d++)
        at[d + 1] += at[d];
    for (size_t i = 0; i < n; i++)
        out[at[(((uint64_t)values[i] - (uint64_t)least) >> shift) & (digits - 1)]++] = values[i];
}

void tm_sort_values(int64_t *values, size_t n) {
    int64_t least = n > 0 ? values[0] : 0, most = least;
    bool sorted = true;
    for (size_t i = 1; i < n; i++) {
        sorted = sorted && values[i - 1] <= values[i];
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    int64_t *from = values, *to = sorted || n < DIGITS_LEAST ? NULL : malloc(n * sizeof *to);
    int64_t *const room = to;
    if (!sorted && !room)
        qsort(values, n, sizeof *values, tm_compare_i64);
    const uint64_t range = (uint64_t)most - (uint64_t)least;
    for (unsigned shift = 0; room && shift < 64 && range >> shift; shift += bits_of(n)) {
        sort_digit(from, n, least, shift, to);
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != values)
        memcpy(values, from, n * sizeof *values);
    free(room);
}

/* Maps the bits of a real to an integer, so that integers have the same order as the reals.
 * Applying the function to its result gives the original bits. */
static int64_t ordered_bits(int64_t bits) {
    return bits ^ (bits < 0 ? INT64_MAX : 0);
}

void tm_sort_reals(double *values, size_t n) {
    int64_t *numbers = n < DIGITS_LEAST ? NULL : malloc(n * sizeof *numbers);
    if (!numbers) {
        qsort(values, n, sizeof *values, by_real);
        return;
    }
    memcpy(numbers, values, n * sizeof *values);
    for (size_t i = 0; i < n; i++)
        numbers[i] = ordered_bits(numbers[i]);
    tm_sort_values(numbers, n);
    for (size_t i = 0; i < n; i++)
        numbers[i] = ordered_bits(numbers[i]);
    memcpy(values, numbers, n * sizeof *values);
    free(numbers);
}

int64_t tm_median(const int64_t *sorted, size_t n) {
    int64_t low = sorted[(n - 1) / 2], high = sorted[n / 2];
    if ((low < 0) != (high < 0))
        return tm_round_ratio(low + high, 2);
    /* low and high have the same sign here. Their sum may overflow, but their difference cannot. */
    return low + (high - low) / 2 + (low < 0 ? 0 : (high - low) % 2);
}

/* The pivot is chosen from SAMPLES samples if there are at least SAMPLED values, else from three
 * samples. */
enum { SAMPLED = 256, SAMPLES = 16 };

void tm_sort_samples(const int64_t *values, size_t n, int64_t *sorted, size_t n_samples) {
    const size_t apart = (n - 1) / (n_samples - 1);
    for (size_t i = 0; i < n_samples; i++) {
        const int64_t value = values[i * apart];
        size_t place = i;
        for (; place > 0 && sorted[place - 1] > value; place--)
            sorted[place] = sorted[place - 1];
        sorted[place] = value;
    }
}

/* Chooses a pivot near the k-th of [n] values, probably just beyond it on the side that has more
 * values, so that one round leaves out most of that side. */
static int64_t choose_pivot(const int64_t *values, size_t n, size_t k) {
    int64_t sorted[SAMPLES];
    const size_t n_samples = n < SAMPLED ? 3 : SAMPLES;
    tm_sort_samples(values, n, sorted, n_samples);
    const size_t place = k * n_samples / n;
    if (n_samples == 3)
        return sorted[1];
    if (k > n / 2)
        return sorted[place > 0 ? place - 1 : 0];
    return sorted[place + 1 < n_samples ? place + 1 : place];
}

/* Maximum number of rounds of a selection, because some orders of values need one round per value.
 * The values left after that are sorted. */
enum { ROUNDS = 128 };

/* Moves values below a bound to the front and returns their number. Has no data-dependent branch,
 * which the processor could not predict. */
static size_t part_below(int64_t *values, size_t n, int64_t bound) {
    size_t below = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t value = values[i];
        values[i] = values[below];
        values[below] = value;
        below += value < bound;
    }
    return below;
}

int64_t tm_select(int64_t *values, size_t n, size_t k) {
    size_t low = 0, high = n; /* values before low and from high on are already in place */
    for (int round = 0; high - low > 1 && round < ROUNDS; round++) {
        const int64_t pivot = choose_pivot(values + low, high - low, k - low);
        const size_t same = low + part_below(values + low, high - low, pivot);
        if (k < same) {
            high = same;
        } else if (same > low) {
            low = same;
        } else if (pivot == INT64_MAX) {
            return values[k];
        } else { /* no value is below the pivot: the pivot is the minimum, and values equal to it
                    are moved to the front */
            low += part_below(values + low, high - low, pivot + 1);
            if (k < low)
                return values[k];
        }
    }
    if (high - low > 1)
        tm_sort_values(values + low, high - low);
    return values[k];
}

int64_t tm_median_any(int64_t *values, size_t n) {
    int64_t middle[2];
    middle[1] = tm_select(values, n, n / 2);
    middle[0] = n % 2 ? middle[1] : values[0];
    for (size_t i = 1; n % 2 == 0 && i < n / 2; i++)
        middle[0] = values[i] > middle[0] ? values[i] : middle[0];
    return tm_median(middle, 2);
}

int64_t tm_percentile_95(int64_t *values, size_t n) {
    return tm_select(values, n, (n * 95 + 99) / 100 - 1);
}

/* Wirth's selection: partitions the range that contains the k-th value, until one value is left.
 * The number of rounds is bounded as in tm_select. */
double tm_select_real(double *values, size_t n, size_t k) {
    ptrdiff_t place = (ptrdiff_t)k, low = 0, high = (ptrdiff_t)n - 1;
    for (int round = 0; low < high && round < ROUNDS; round++) {
        double pivot = values[place];
        ptrdiff_t i = low, j = high;
        do {
            while (values[i] < pivot)
                i++;
            while (pivot < values[j])
                j--;
            if (i <= j) {
                double kept = values[i];
                values[i++] = values[j];
                values[j--] = kept;
            }
        } while (i <= j);
        low = j < place ? i : low;
        high = place < i ? j : high;
    }
    if (low < high)
        tm_sort_reals(values + low, (size_t)(high - low) + 1);
    return values[k];
}

double tm_median_real(double *values, size_t n) {
    double upper = tm_select_real(values, n, n / 2);
    return n % 2 ? upper : (upper + tm_select_real(values, n, n / 2 - 1)) / 2.0;
}
