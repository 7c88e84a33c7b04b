/* Growable array of elements of equal size. */
#ifndef TMERGE_VEC_H
#define TMERGE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct tm_vec {
    void *data;  /* owned */
    size_t n;    /* elements in use */
    size_t cap;  /* elements allocated */
    size_t size; /* size of an element [B], set by the initialiser */
} tm_vec;

#define TM_VEC(type) ((tm_vec){.size = sizeof(type)})

/** Reserves memory for @p n elements in total. Returns false when out of memory, with the vector
 * unchanged. */
bool tm_vec_reserve(tm_vec *vec, size_t n);

/** Frees excess capacity; never fails. */
void tm_vec_trim(tm_vec *vec);

/** Frees the elements and leaves an empty vector of the same element size. */
void tm_vec_free(tm_vec *vec);

/** Frees several vectors: TM_VECS_FREE(&a, &b). */
#define TM_VECS_FREE(...)                                                                          \
    tm_vecs_free((tm_vec *[]){__VA_ARGS__}, sizeof(tm_vec *[]){__VA_ARGS__} / sizeof(tm_vec *))

/** The function of TM_VECS_FREE. */
void tm_vecs_free(tm_vec *const *vecs, size_t n);

/** Appends one uninitialised element and returns it, or NULL when out of memory. */
static inline void *tm_vec_push(tm_vec *vec) {
    if (vec->n == vec->cap && !tm_vec_reserve(vec, vec->n + 1))
        return NULL;
    return (char *)vec->data + vec->size * vec->n++;
}

/** The general case of tm_vec_append. */
void *tm_vec_append_any(tm_vec *vec, const void *from, size_t n);

/** Appends @p n elements copied from @p from (uninitialised if NULL); returns NULL when out of
 * memory. */
static inline void *tm_vec_append(tm_vec *vec, const void *from, size_t n) {
    if (!from || !vec->data || n == 0 || n > vec->cap - vec->n)
        return tm_vec_append_any(vec, from, n);
    void *at = (char *)vec->data + vec->size * vec->n;
    vec->n += n;
    return memcpy(at, from, vec->size * n);
}

/** Sorts the elements with a comparison for qsort. */
static inline void tm_vec_sort(const tm_vec *vec, int (*order)(const void *a, const void *b)) {
    if (vec->n > 1)
        qsort(vec->data, vec->n, vec->size, order);
}

#endif
