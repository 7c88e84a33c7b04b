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

/** Defines a comparison of structs for qsort and tm_sort. TM_ORDER_BY(by_rank, step, rank, number)
 * orders `step`s by rank, and those of a rank by number. There may be six fields; they are numbers,
 * and none is NaN. */
#define TM_ORDER_BY(name, type, ...)                                                               \
    static int name(const void *a, const void *b) {                                                \
        const type *x = a, *y = b;                                                                 \
        return TM_ORDER_CHOICE(__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0)(__VA_ARGS__);                     \
    }                                                                                              \
    struct tm_order_by /* so that a semicolon follows */
/** Like TM_ORDER_BY, but the first of at least two fields is in falling order. */
#define TM_ORDER_FALLING(name, type, first, ...)                                                   \
    static int name(const void *a, const void *b) {                                                \
        const type *x = a, *y = b;                                                                 \
        return x->first != y->first                                                                \
                   ? (x->first < y->first) - (x->first > y->first)                                 \
                   : TM_ORDER_CHOICE(__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0)(__VA_ARGS__);               \
    }                                                                                              \
    struct tm_order_by
#define TM_ORDER_CHOICE(a, b, c, d, e, f, n, ...) TM_ORDER_##n
#define TM_ORDER_1(field) (x->field > y->field) - (x->field < y->field)
#define TM_ORDER_2(field, ...) x->field != y->field ? TM_ORDER_1(field) : TM_ORDER_1(__VA_ARGS__)
#define TM_ORDER_3(field, ...) x->field != y->field ? TM_ORDER_1(field) : TM_ORDER_2(__VA_ARGS__)
#define TM_ORDER_4(field, ...) x->field != y->field ? TM_ORDER_1(field) : TM_ORDER_3(__VA_ARGS__)
#define TM_ORDER_5(field, ...) x->field != y->field ? TM_ORDER_1(field) : TM_ORDER_4(__VA_ARGS__)
#define TM_ORDER_6(field, ...) x->field != y->field ? TM_ORDER_1(field) : TM_ORDER_5(__VA_ARGS__)

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

/* Whether an integer is less than a key, or at most the key, which is an int64_t, or for uint64_t a
 * uint64_t. */
#define TM_INTEGER_TESTS(suffix, type, key_type)                                                   \
    static inline bool tm_is_less_##suffix(const void *value, const void *key) {                   \
        return *(const type *)value < *(const key_type *)key;                                      \
    }                                                                                              \
    static inline bool tm_is_at_most_##suffix(const void *value, const void *key) {                \
        return *(const type *)value <= *(const key_type *)key;                                     \
    }
TM_INTEGER_TESTS(i64, int64_t, int64_t)
TM_INTEGER_TESTS(u64, uint64_t, uint64_t)
TM_INTEGER_TESTS(i32, int32_t, int64_t)
TM_INTEGER_TESTS(u32, uint32_t, int64_t)
#undef TM_INTEGER_TESTS

/** Returns the index of the first of [n] structs of a type whose integer @p field is not less than
 * @p key, or for TM_FIRST_AFTER greater; n if there is none. The fields ascend. */
#define TM_FIRST_FROM(type, field, array, n, key) TM_FIRST_(is_less, type, field, array, n, key)
#define TM_FIRST_AFTER(type, field, array, n, key) TM_FIRST_(is_at_most, type, field, array, n, key)
#define TM_FIRST_(test, type, field, array, n, key)                                                \
    tm_bisect_field(array, n, sizeof(type), offsetof(type, field), (int64_t)(key),                 \
                    _Generic(((const type *)(array))->field, int64_t                               \
                             : tm_##test##_i64, uint64_t                                           \
                             : tm_##test##_u64, int32_t                                            \
                             : tm_##test##_i32, uint32_t                                           \
                             : tm_##test##_u32))
/** Helper of TM_FIRST_FROM and TM_FIRST_AFTER.
 * @param size    bytes of a struct
 * @param offset  of the field in a struct [B] */
static inline size_t tm_bisect_field(const void *array, size_t n, size_t size, size_t offset,
                                     int64_t key,
                                     bool (*is_before)(const void *element, const void *key)) {
    return n > 0 ? tm_bisect((const char *)array + offset, n, size, &key, is_before) : 0;
}

/** Returns the index of the first of [n] ascending values that is not less than @p key; n if all
 * are less. */
static inline size_t tm_lower_bound(const int64_t *values, size_t n, int64_t key) {
    return tm_bisect(values, n, sizeof *values, &key, tm_is_less_i64);
}

#endif
