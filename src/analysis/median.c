#include "median.h"

#include <stdlib.h>

int64_t tm_round_ratio(int64_t numerator, int64_t denominator) {
    int64_t whole = numerator / denominator, rest = numerator % denominator;
    if (rest < 0)
        return whole - (-rest >= denominator - -rest);
    return whole + (rest >= denominator - rest);
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int by_real(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void tm_sort_values(int64_t *values, size_t n) {
    if (n > 1)
        qsort(values, n, sizeof *values, by_value);
}

int64_t tm_median(const int64_t *sorted, size_t n) {
    int64_t low = sorted[(n - 1) / 2], high = sorted[n / 2];
    if ((low < 0) != (high < 0))
        return tm_round_ratio(low + high, 2);
    /* of one sign: their sum may not fit, their difference does */
    return low + (high - low) / 2 + (low < 0 ? 0 : (high - low) % 2);
}

int64_t tm_percentile_95(const int64_t *sorted, size_t n) {
    return sorted[(n * 95 + 99) / 100 - 1];
}

double tm_median_real(double *values, size_t n) {
    if (n > 1)
        qsort(values, n, sizeof *values, by_real);
    return (values[(n - 1) / 2] + values[n / 2]) / 2.0;
}
