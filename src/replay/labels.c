#include "labels.h"

#include <string.h>

enum { SMALLEST = 4 };

tm_labels *tm_labels_new(tm_label_pool *pool, size_t n) {
    size_t size = 0;
    while ((size_t)SMALLEST << size < n)
        size++;
    tm_labels *labels = pool->free[size];
    if (labels) {
        pool->free[size] = labels->next;
    } else {
        size_t room = (size_t)SMALLEST << size;
        size_t times = room * pool->width * sizeof *labels->ns;
        labels = tm_arena_alloc(&pool->arena,
                                sizeof *labels + times + room * (sizeof *labels->from + 1));
        if (!labels)
            return NULL;
        labels->ns = (void *)(labels + 1);
        labels->from = (void *)((char *)labels->ns + times);
        labels->alive = (uint8_t *)(labels->from + room);
        labels->size = size;
    }
    labels->n = 0;
    return labels;
}

void tm_labels_release(tm_label_pool *pool, tm_labels *labels) {
    labels->next = pool->free[labels->size];
    pool->free[labels->size] = labels;
}

tm_labels *tm_labels_copy(tm_label_pool *pool, const tm_labels *labels, const int64_t *const *by) {
    tm_labels *copy = tm_labels_new(pool, labels->n);
    if (!copy)
        return NULL;
    copy->n = labels->n;
    memcpy(copy->from, labels->from, labels->n * sizeof *copy->from);
    memcpy(copy->alive, labels->alive, labels->n);
    pool->lanes->add(copy->ns, labels->ns, labels->n, by, pool->width);
    return copy;
}

void tm_labels_add(const tm_label_pool *pool, tm_labels *labels, const int64_t *const *by) {
    pool->lanes->add(labels->ns, labels->ns, labels->n, by, pool->width);
}

tm_labels *tm_labels_merge(tm_label_pool *pool, tm_labels *a, const tm_labels *b,
                           const int64_t *const *by) {
    const size_t width = pool->width;
    size_t i = 0, k = 0;
    tm_labels *both = tm_labels_new(pool, a->n + b->n);
    if (!both)
        return NULL;
    while (i < a->n || k < b->n) {
        bool of_a = k == b->n || (i < a->n && a->from[i] <= b->from[k]);
        bool of_b = i == a->n || (k < b->n && b->from[k] <= a->from[i]);
        const int64_t *a_ns = a->ns + i * width, *b_ns = b->ns + k * width;
        int64_t *out = both->ns + both->n * width;
        both->alive[both->n] = (uint8_t)((of_a ? a->alive[i] : 0) | (of_b ? b->alive[k] : 0));
        both->from[both->n++] = of_a ? a->from[i] : b->from[k];
        if (of_a && of_b)
            pool->lanes->larger(out, a_ns, b_ns, by, width);
        else if (of_a)
            memcpy(out, a_ns, width * sizeof *out);
        else
            pool->lanes->add(out, b_ns, 1, by, width);
        i += of_a;
        k += of_b;
    }
    tm_labels_release(pool, a);
    return both;
}
