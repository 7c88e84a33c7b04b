#include "labels.h"

#include <string.h>

enum { SMALLEST = 4 };

static tm_ways *new_ways(tm_label_pool *pool, size_t n) {
    size_t size = 0;
    while ((size_t)SMALLEST << size < n)
        size++;
    tm_ways *ways = pool->ways[size];
    if (ways) {
        pool->ways[size] = ways->next;
    } else {
        const size_t room = (size_t)SMALLEST << size;
        const size_t times = room * pool->width * sizeof *ways->ns;
        const size_t width = pool->width * sizeof *ways->most;
        ways = tm_pages_alloc(&pool->pages,
                              sizeof *ways + width + times + room * (sizeof *ways->from + 3));
        if (!ways)
            return NULL;
        ways->most = (void *)(ways + 1);
        ways->ns = ways->most + pool->width;
        ways->from = (void *)((char *)ways->ns + times);
        ways->alive = (uint8_t *)(ways->from + room);
        ways->came = ways->alive + room;
        ways->grew = ways->came + room;
        ways->size = size;
    }
    ways->n = 0;
    ways->users = 1;
    ways->settled = ways->holds = 0;
    ways->number = ++pool->number;
    ways->news = false;
    return ways;
}

static void release_ways(tm_label_pool *pool, tm_ways *ways) {
    if (--ways->users > 0)
        return;
    ways->next = pool->ways[ways->size];
    pool->ways[ways->size] = ways;
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
    labels->ways = new_ways(pool, n);
    memset(labels->plus, 0, pool->width * sizeof *labels->plus);
    return labels->ways ? labels : NULL;
}

void tm_labels_release(tm_label_pool *pool, tm_labels *labels) {
    release_ways(pool, labels->ways);
    labels->next = pool->labels;
    pool->labels = labels;
}

int64_t *tm_ways_append(const tm_label_pool *pool, tm_ways *ways, uint32_t from) {
    const size_t i = ways->n++;
    ways->from[i] = from;
    ways->alive[i] = ways->came[i] = ways->grew[i] = 0;
    return ways->ns + i * pool->width;
}

tm_labels *tm_labels_longer(tm_label_pool *pool, const tm_labels *labels,
                            const int64_t *const *by) {
    tm_labels *longer = new_labels(pool);
    if (!longer)
        return NULL;
    longer->ways = labels->ways;
    longer->ways->users++;
    pool->lanes->add(longer->plus, labels->plus, 1, by, pool->width);
    return longer;
}

/* Copies way i of @p from to index k of @p to. @p from and @p to may be the same. */
static void move_way(const tm_label_pool *pool, const tm_ways *from, size_t i, tm_ways *to,
                     size_t k) {
    const size_t width = pool->width;
    to->from[k] = from->from[i];
    to->alive[k] = from->alive[i];
    to->came[k] = from->came[i];
    to->grew[k] = from->grew[i];
    memcpy(to->ns + k * width, from->ns + i * width, width * sizeof *to->ns);
}

/* Counts the ways of @p b whose sources have no way in @p a. */
static size_t count_missing(const tm_ways *a, const tm_ways *b) {
    size_t n = 0;
    for (size_t i = 0, k = 0; k < b->n; k++) {
        while (i < a->n && a->from[i] < b->from[k])
            i++;
        n += i == a->n || a->from[i] > b->from[k];
    }
    return n;
}

/* Returns the ways of labels, with room for @p more further ways. The ways are copied first if
 * other labels share them, or if there is too little room. NULL when out of memory. */
static tm_ways *own_ways(tm_label_pool *pool, tm_labels *labels, size_t more) {
    tm_ways *ways = labels->ways;
    if (ways->users == 1 && ways->n + more <= (size_t)SMALLEST << ways->size)
        return ways;
    tm_ways *own = new_ways(pool, ways->n + more);
    if (!own)
        return NULL;
    for (; own->n < ways->n; own->n++)
        move_way(pool, ways, own->n, own, own->n);
    own->settled = ways->settled;
    own->news = ways->news;
    own->number = ways->number;
    own->holds = ways->holds;
    memcpy(own->most, ways->most, pool->width * sizeof *own->most);
    release_ways(pool, ways);
    return labels->ways = own;
}

/* Makes way k of @p b longer by pool->apart, and merges it into way i of @p a, which has the same
 * source. */
static void take_way(const tm_label_pool *pool, tm_ways *a, size_t i, const tm_ways *b, size_t k) {
    const size_t width = pool->width;
    const uint8_t raised = pool->lanes->raise(a->ns + i * width, b->ns + k * width, pool->apart,
                                              a->most, k + 1 == b->n, width);
    const uint8_t came = (uint8_t)(b->alive[k] & ~(unsigned)a->alive[i]);
    a->alive[i] |= came;
    a->came[i] |= came;
    a->grew[i] |= raised;
    a->news = a->news || raised || came;
}

/* Adds way k of @p b, made longer by pool->apart, as way i of @p a, which has no way from this
 * source yet. */
static void add_way(const tm_label_pool *pool, tm_ways *a, size_t i, const tm_ways *b, size_t k) {
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
    const tm_ways *other = b->ways;
    if (!pool->apart)
        pool->apart = tm_pages_alloc(&pool->pages, pool->width * sizeof *pool->apart);
    if (!pool->apart)
        return false;
    const bool more =
        pool->lanes->apart(pool->apart, b->plus, by, a->plus, a->ways->most, pool->width);
    /* `more` was computed from `most`, which is set only if `holds` is not 0 */
    if (a->ways->holds == other->number && !more)
        return true;
    size_t missing = count_missing(a->ways, other);
    tm_ways *ways = own_ways(pool, a, missing);
    if (!ways)
        return false;
    size_t i = ways->n, k = other->n; /* b has at least one way */
    ways->n += missing;
    while (k > 0) { /* from the last way to the first, so that inserted ways find room */
        if (i > 0 && ways->from[i - 1] >= other->from[k - 1]) {
            i--;
            if (missing > 0)
                move_way(pool, ways, i, ways, i + missing);
            if (ways->from[i + missing] == other->from[k - 1])
                take_way(pool, ways, i + missing, other, --k);
        } else {
            missing--;
            add_way(pool, ways, i + missing, other, --k);
        }
    }
    ways->holds = other->number;
    if (ways->news)
        ways->number = ++pool->number;
    return true;
}

void tm_ways_fewer(tm_label_pool *pool, tm_ways *ways) {
    ways->holds = 0;
    ways->number = ++pool->number;
}

void tm_ways_known(tm_ways *ways) {
    if (ways->news) {
        memset(ways->came, 0, ways->n);
        memset(ways->grew, 0, ways->n);
    }
    ways->news = false;
}
