#include "vec.h"

#include <stdint.h>
#include <stdlib.h>

bool tm_vec_reserve(tm_vec *vec, size_t n) {
    if (n <= vec->cap)
        return true;
    enum { SMALL_BYTES = 1 << 22 }; /* larger vectors grow by half, which wastes less */
    size_t more = vec->cap * vec->size < SMALL_BYTES ? vec->cap : vec->cap / 2;
    size_t cap = vec->cap < 8 ? 8 : vec->cap + more;
    if (cap < n)
        cap = n;
    if (cap > SIZE_MAX / vec->size)
        return false;
    void *data = realloc(vec->data, cap * vec->size);
    if (!data)
        return false;
    vec->data = data;
    vec->cap = cap;
    return true;
}

void tm_vec_trim(tm_vec *vec) {
    if (vec->n == vec->cap)
        return;
    if (vec->n == 0) {
        tm_vec_free(vec);
        return;
    }
    void *data = realloc(vec->data, vec->n * vec->size);
    if (data) {
        vec->data = data;
        vec->cap = vec->n;
    }
}

void tm_vec_free(tm_vec *vec) {
    free(vec->data);
    *vec = (tm_vec){.size = vec->size};
}

void tm_vecs_free(tm_vec *const *vecs, size_t n) {
    for (size_t i = 0; i < n; i++)
        tm_vec_free(vecs[i]);
}

void *tm_vec_append_any(tm_vec *vec, const void *from, size_t n) {
    if (n > SIZE_MAX - 1 - vec->n || !tm_vec_reserve(vec, vec->n + (n ? n : 1)))
        return NULL;
    char *at = (char *)vec->data + vec->size * vec->n;
    if (from && n > 0)
        memcpy(at, from, vec->size * n);
    vec->n += n;
    return at;
}
