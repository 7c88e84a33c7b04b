#include "labels.h"

#include <string.h>

enum { SMALLEST = 4 };

static tm_distances *new_distances(tm_label_pool *pool, size_t n) {
    size_t size = 0;
    while ((size_t)SMALLEST << size < n)
        size++;
    tm_distances *distances = pool->distances[size];
    if (distances) {
        pool->distances[size] = distances->next;
    } else {
        const size_t room = (size_t)SMALLEST << size;
        const size_t times = room * pool->width * sizeof *distances->ns;
        const size_t width = pool->width * sizeof *distances->most;
        distances = tm_pages_alloc(&pool->pages, sizeof *distances + width + times +
                                                     room * (sizeof *distances->from + 3));
        if (!distances)
            return NULL;
        distances->most = (void *)(distances + 1);
        distances->ns = distances->most + pool->width;
        distances->from = (void *)((char *)distances->ns + times);
        distances->alive = (uint8_t *)(distances->from + room);
        distances->came = distances->alive + room;
        distances->grew = distances->came + room;
        distances->size = size;
    }
    distances->n = 0;
    distances->users = 1;
    distances->settled = distances->holds = 0;
    distances->number = ++pool->number;
    distances->news = false;
    return distances;
}

static void release_distances(tm_label_pool *pool, tm_distances *distances) {
    if (--distances->users > 0)
        return;
    distances->next = pool->distances[distances->size];
    pool->distances[distances->size] = distances;
}

static tm_labels *new_labels(tm_label_pool *pool) {
    tm_labels *labels = pool->labels;
    if (labels)
        pool->labels = labels->next;
    else
        labels = tm_pages_alloc(&pool->pages, sizeof *labels + pool->width * sizeof *labels->plus);
    return labels;
}

tm_labels *tm_labels_new(tm_label_pool *pool, size_t n) {
    tm_labels *labels = new_labels(pool);
    if (!labels)
        return NULL;
    labels->distances = new_distances(pool, n);
    memset(labels->plus, 0, pool->width * sizeof *labels->plus);
    return labels->distances ? labels : NULL;
}

void tm_labels_release(tm_label_pool *pool, tm_labels *labels) {
    release_distances(pool, labels->distances);
    labels->next = pool->labels;
    pool->labels = labels;
}

int64_t *tm_distances_append(const tm_label_pool *pool, tm_distances *distances, uint32_t from) {
    const size_t i = distances->n++;
    distances->from[i] = from;
    distances->alive[i] = distances->came[i] = distances->grew[i] = 0;
    return distances->ns + i * pool->width;
}

tm_labels *tm_labels_longer(tm_label_pool *pool, const tm_labels *labels,
                            const int64_t *const *by) {
    tm_labels *longer = new_labels(pool);
    if (!longer)
        return NULL;
    longer->distances = labels->distances;
    longer->distances->users++;
    pool->lanes->add(longer->plus, labels->plus, 1, by, pool->width);
    return longer;
}

/* Copies distance i of @p from to index k of @p to. @p from and @p to may be the same. */
static void move_distance(const tm_label_pool *pool, const tm_distances *from, size_t i,
                          tm_distances *to, size_t k) {
    const size_t width = pool->width;
    to->from[k] = from->from[i];
    to->alive[k] = from->alive[i];
    to->came[k] = from->came[i];
    to->grew[k] = from->grew[i];
    memcpy(to->ns + k * width, from->ns + i * width, width * sizeof *to->ns);
}

/* Counts the distances of @p b whose sources have no distance in @p a. */
static size_t count_missing(const tm_distances *a, const tm_distances *b) {
    size_t n = 0;
    for (size_t i = 0, k = 0; k < b->n; k++) {
        while (i < a->n && a->from[i] < b->from[k])
            i++;
        n += i == a->n || a->from[i] > b->from[k];
    }
    return n;
}

/* Returns the distances of labels, with room for @p more further distances. The distances are
 * copied first if other labels share them, or if there is too little room. NULL when out of
 * memory. */
static tm_distances *own_distances(tm_label_pool *pool, tm_labels *labels, size_t more) {
    tm_distances *distances = labels->distances;
    if (distances->users == 1 && distances->n + more <= (size_t)SMALLEST << distances->size)
        return distances;
    tm_distances *own = new_distances(pool, distances->n + more);
    if (!own)
        return NULL;
    for (; own->n < distances->n; own->n++)
        move_distance(pool, distances, own->n, own, own->n);
    own->settled = distances->settled;
    own->news = distances->news;
    own->number = distances->number;
    own->holds = distances->holds;
    memcpy(own->most, distances->most, pool->width * sizeof *own->most);
    release_distances(pool, distances);
    return labels->distances = own;
}

/* Makes distance k of @p b longer by pool->apart, and merges it into distance i of @p a, which has
 * the same source. */
static void take_distance(const tm_label_pool *pool, tm_distances *a, size_t i,
                          const tm_distances *b, size_t k) {
    const size_t width = pool->width;
    const uint8_t raised = pool->lanes->raise(a->ns + i * width, b->ns + k * width, pool->apart,
                                              a->most, k + 1 == b->n, width);
    const uint8_t came = (uint8_t)(b->alive[k] & ~(unsigned)a->alive[i]);
    a->alive[i] |= came;
    a->came[i] |= came;
    a->grew[i] |= raised;
    a->news = a->news || raised || came;
}

/* Adds distance k of @p b, made longer by pool->apart, as distance i of @p a, which has no distance
 * from this source yet. */
static void add_distance(const tm_label_pool *pool, tm_distances *a, size_t i,
                         const tm_distances *b, size_t k) {
    const size_t width = pool->width;
    pool->lanes->set(a->ns + i * width, b->ns + k * width, pool->apart, a->most, k + 1 == b->n,
                     width);
    a->from[i] = b->from[k];
    a->alive[i] = a->came[i] = b->alive[k];
    a->grew[i] = 0;
    a->news = true;
}

bool tm_labels_merge(tm_label_pool *pool, tm_labels *a, const tm_labels *b,
                     const int64_t *const *by) {
    const tm_distances *other = b->distances;
    if (!pool->apart)
        pool->apart = tm_pages_alloc(&pool->pages, pool->width * sizeof *pool->apart);
    if (!pool->apart)
        return false;
    const bool more =
        pool->lanes->apart(pool->apart, b->plus, by, a->plus, a->distances->most, pool->width);
    /* `more` was computed from `most`, which is set only if `holds` is not 0 */
    if (a->distances->holds == other->number && !more)
        return true;
    size_t missing = count_missing(a->distances, other);
    tm_distances *distances = own_distances(pool, a, missing);
    if (!distances)
        return false;
    size_t i = distances->n, k = other->n; /* b has at least one distance */
    distances->n += missing;
    while (k > 0) { /* from the last distance to the first, so that inserted distances find room */
        if (i > 0 && distances->from[i - 1] >= other->from[k - 1]) {
            i--;
            if (missing > 0)
                move_distance(pool, distances, i, distances, i + missing);
            if (distances->from[i + missing] == other->from[k - 1])
                take_distance(pool, distances, i + missing, other, --k);
        } else {
            missing--;
            add_distance(pool, distances, i + missing, other, --k);
        }
    }
    distances->holds = other->number;
    if (distances->news)
        distances->number = ++pool->number;
    return true;
}

void tm_distances_fewer(tm_label_pool *pool, tm_distances *distances) {
    distances->holds = 0;
    distances->number = ++pool->number;
}

void tm_distances_known(tm_distances *distances) {
    if (distances->news) {
        memset(distances->came, 0, distances->n);
        memset(distances->grew, 0, distances->n);
    }
    distances->news = false;
}
