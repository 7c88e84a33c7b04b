/* Comparison, sorting and searching. */
#ifndef TMERGE_SORTED_H
#define TMERGE_SORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** Returns a value below 0, 0 or above 0 as qsort requires; a difference could overflow. */
static inline int tm_order_i64(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

static inline int tm_order_u64(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

/** Like tm_order_i64, for reals, none of which is NaN. */
static inline int tm_order_real(double a, double b) {
    return (a > b) - (a < b);
}

typedef int tm_order(const void *a, const void *b);

/** Compares int64_t elements. */
static inline int tm_compare_i64(const void *a, const void *b) {
    return tm_order_i64(*(const int64_t *)a, *(const int64_t *)b);
}

enum { TM_SORT_NEAR = 32, TM_SORT_RUNS = 8 };

/** Helper of tm_sort: inserts element i among the preceding elements, which are sorted, if its
 * place is near; else leaves it and returns false. */
static inline bool tm_sort_in(char *v, size_t i, size_t size, tm_order *order, char *room) {
    size_t to = i;
    while (to > 0 && i - to < TM_SORT_NEAR && order(v + (to - 1) * size, v + i * size) > 0)
        to--;
    if (i - to == TM_SORT_NEAR)
        return false;
    memcpy(room, v + i * size, size);
    memmove(v + (to + 1) * size, v + to * size, (i - to) * size);
    memcpy(v + to * size, room, size);
    return true;
}

/** Helper of tm_sort: merges the sorted elements before the middle with the sorted elements from
 * the middle on.
 * @param room  buffer for the elements before the middle */
static inline void tm_sort_merge(char *v, size_t middle, size_t n, size_t size, tm_order *order,
                                 char *room) {
    size_t i = 0, k = middle, to = 0;
    while (i < middle && order(v + i * size, v + middle * size) <= 0)
        i++; /* already in place */
    const size_t first = i;
    memcpy(room, v + first * size, (middle - first) * size);
    for (to = first; i < middle; to++) {
        const bool other = k < n && order(room + (i - first) * size, v + k * size) > 0;
        memcpy(v + to * size, other ? v + k * size : room + (i - first) * size, size);
        k += other;
        i += !other;
    }
}

/** Sorts [n] elements with a comparison for qsort. Nearly linear if the elements are sorted, near
 * their places, or in a few sorted runs. Not stable: it may fall back to qsort. */
static inline void tm_sort(void *array, size_t n, size_t size, tm_order *order) {
    char *v = array, *room = NULL;
    size_t first[TM_SORT_RUNS + 1] = {0}, runs = 0, i = 1;
    for (; i < n && runs < TM_SORT_RUNS; i++) {
        if (order(v + (i - 1) * size, v + i * size) <= 0)
            continue;
        room = room ? room : malloc(n * size);
        if (!room)
            break;
        char *run = v + first[runs] * size;
        if (!tm_sort_in(run, i - first[runs], size, order, room))
            first[++runs] = i;
    }
    /* Sorting stopped, because there were too many runs, or no memory to merge them. */
    if (i < n)
        qsort(array, n, size, order);
    else
        for (; runs > 0; runs--)
            tm_sort_merge(v + first[runs - 1] * size, first[runs] - first[runs - 1],
                          n - first[runs - 1], size, order, room);
    free(room);
}

/**
 * Returns the index of the first of [n] elements that is not before a key; n if all are before it.
 * Searches by bisection. The function is inline, so that the comparison is inlined, too.
 * @param array      all elements that are before the key come first
 * @param size       bytes of an element
 * @param is_before  called for about log2(n) elements
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

/** Returns the index of the first of [n] ascending values that is not less than @p key; n if all
 * are less. */
static inline size_t tm_lower_bound(const int64_t *values, size_t n, int64_t key) {
    return tm_bisect(values, n, sizeof *values, &key, tm_is_less_i64);
}

#endif
