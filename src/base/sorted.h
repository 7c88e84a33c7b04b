/* The order of whole numbers, and where something stands in a sorted array. */
#ifndef TMERGE_SORTED_H
#define TMERGE_SORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/** Below 0, 0 or above 0, as a comparison for qsort answers; a difference might not fit. */
static inline int tm_order_i64(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

static inline int tm_order_u64(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

/** Neither is NaN. */
static inline int tm_order_real(double a, double b) {
    return (a > b) - (a < b);
}

/** Sorts [n] elements by a comparison for qsort; those that are in order already cost a look each.
 */
static inline void tm_sort(void *array, size_t n, size_t size,
                           int (*order)(const void *a, const void *b)) {
    const char *v = array;
    size_t i = 1;
    while (i < n && order(v + (i - 1) * size, v + i * size) <= 0)
        i++;
    if (i < n)
        qsort(array, n, size, order);
}

/**
 * The first of [n] elements that is not before a key, found by bisection; n where all are.
 * Inline, so that the question is, too.
 *
 * @param array      those that are before the key stand before those that are not
 * @param size       bytes of an element
 * @param is_before  asked of about log2(n) elements
 */
static inline size_t tm_bisect(const void *array, size_t n, size_t size, const void *key,
                               bool (*is_before)(const void *element, const void *key)) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before((const char *)array + middle * size, key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static inline bool tm_is_less_i64(const void *value, const void *key) {
    return *(const int64_t *)value < *(const int64_t *)key;
}

/** The first of [n] ascending values that is not less than @p key; n where all are. */
static inline size_t tm_lower_bound(const int64_t *values, size_t n, int64_t key) {
    return tm_bisect(values, n, sizeof *values, &key, tm_is_less_i64);
}

#endif
