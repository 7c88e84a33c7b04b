/* The order of whole numbers, and where something stands in a sorted array. */
#ifndef TMERGE_SORTED_H
#define TMERGE_SORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/** A comparison for qsort. */
typedef int tm_order(const void *a, const void *b);

enum { TM_SORT_NEAR = 32, TM_SORT_RUNS = 8 };

/** For tm_sort: moves element i to where it belongs among those before it, which are in order, if
 * that is near; else leaves it and returns false. */
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

/** Likewise: merges those before the middle, which are in order, with those from there on.
 * @param room  for those before it */
static inline void tm_sort_merge(char *v, size_t middle, size_t n, size_t size, tm_order *order,
                                 char *room) {
    size_t i = 0, k = middle, to = 0;
    while (i < middle && order(v + i * size, v + middle * size) <= 0)
        i++; /* they stay */
    const size_t first = i;
    memcpy(room, v + first * size, (middle - first) * size);
    for (to = first; i < middle; to++) {
        const bool other = k < n && order(room + (i - first) * size, v + k * size) > 0;
        memcpy(v + to * size, other ? v + k * size : room + (i - first) * size, size);
        k += other;
        i += !other;
    }
}

/** Sorts [n] elements by a comparison for qsort, stably; of those that are in order already, or
 * near their places, or in a few rows that are, each costs little more than a look. */
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
    if (i < n) /* too many rows, or no room for them */
        qsort(array, n, size, order);
    else
        for (; runs > 0; runs--)
            tm_sort_merge(v + first[runs - 1] * size, first[runs] - first[runs - 1],
                          n - first[runs - 1], size, order, room);
    free(room);
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
