/* A growable array of equal-sized elements; the one container behind every list here. */
#ifndef TMERGE_VEC_H
#define TMERGE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct tm_vec {
    void *data;  /* owned */
    size_t n;    /* elements in use */
    size_t cap;  /* elements allocated */
    size_t size; /* bytes per element, set by the initialiser */
} tm_vec;

#define TM_VEC(type) ((tm_vec){.size = sizeof(type)})

/** Makes room for @p n elements in all. False when memory is out; the vector is unchanged then. */
bool tm_vec_reserve(tm_vec *vec, size_t n);

/** Gives excess capacity back; never fails. */
void tm_vec_trim(tm_vec *vec);

/** Frees the elements and leaves an empty vector of the same element size. */
void tm_vec_free(tm_vec *vec);

/** Appends one uninitialised element and returns it, or NULL when memory is out. */
static inline void *tm_vec_push(tm_vec *vec) {
    if (vec->n == vec->cap && !tm_vec_reserve(vec, vec->n + 1))
        return NULL;
    return (char *)vec->data + vec->size * vec->n++;
}

/** The same as tm_vec_append, which calls it where that is not done with a copy. */
void *tm_vec_append_any(tm_vec *vec, const void *from, size_t n);

/** Appends @p n elements copied from @p from (uninitialised where NULL); NULL when memory is out.*/
static inline void *tm_vec_append(tm_vec *vec, const void *from, size_t n) {
    if (!from || !vec->data || n == 0 || n > vec->cap - vec->n)
        return tm_vec_append_any(vec, from, n);
    void *at = (char *)vec->data + vec->size * vec->n;
    vec->n += n;
    return memcpy(at, from, vec->size * n);
}

#endif
