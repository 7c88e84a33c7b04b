/* What a node of a rank's graph carries while the graph is reduced: how long after each port at the
 * latest, in each set of weights. */
#ifndef TMERGE_REPLAY_LABELS_H
#define TMERGE_REPLAY_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lanes.h"
#include "base/pages.h"

/** The longest ways from ports to one node, or, of nodes in a row, to the first of them. */
typedef struct tm_ways {
    _Alignas(TM_LINE) struct tm_ways *next; /* of those that are free */
    size_t n;
    size_t size;      /* which of the pool's sizes it has */
    size_t users;     /* labels that have it: whoever is not alone must not change it */
    uint64_t settled; /* as of when ways were held against one another, but for what is news */
    uint64_t number;  /* others with it are the same */
    uint64_t holds;   /* the number of others that would change nothing here, were they at most */
    int64_t *most;    /* [width] so much longer; 0: of none */
    bool news;        /* something came or grew */
    uint32_t *from;   /* [n] visits, ascending; the root (TM_FROM_ROOT) is the last */
    int64_t *ns;      /* [n][width] */
    uint8_t *alive;   /* [n] bit by rank: whether it has that way */
    uint8_t *came;    /* [n] bit by rank: whether it has it of late, and */
    uint8_t *grew;    /* [n] whether it is longer of late */
} tm_ways;

/** The ways to a node. */
typedef struct tm_labels {
    struct tm_labels *next; /* of those that are free */
    tm_ways *ways;
    _Alignas(TM_LINE) int64_t plus[]; /* [width] by which each is longer here */
} tm_labels;

enum { TM_LABEL_SIZES = 30 };

/** Where they come from and go back to, so that the few in use stay in the cache. */
typedef struct tm_label_pool {
    const tm_lanes *lanes;
    size_t width;   /* of a row: room for all sets */
    tm_pages pages; /* begins empty; to be freed by the owner, with all labels */
    tm_labels *labels;
    tm_ways *ways[TM_LABEL_SIZES];
    int64_t *apart;  /* [width] room; NULL at the begin */
    uint64_t number; /* the last */
} tm_label_pool;

/** Labels with room for @p n ways, none in use and no longer here; NULL when memory is out. */
tm_labels *tm_labels_new(tm_label_pool *pool, size_t n);
void tm_labels_release(tm_label_pool *pool, tm_labels *labels);

/** Appends a way of a source behind all others, not alive; its times, which are to be set. */
int64_t *tm_ways_append(const tm_label_pool *pool, tm_ways *ways, uint32_t from);

/** The same ways, each longer by @p by [width / TM_LANES]; NULL when memory is out. */
tm_labels *tm_labels_longer(tm_label_pool *pool, const tm_labels *labels, const int64_t *const *by);

/** Makes each way longer by @p by [width / TM_LANES]. */
static inline void tm_labels_add(const tm_label_pool *pool, tm_labels *labels,
                                 const int64_t *const *by) {
    pool->lanes->add(labels->plus, labels->plus, 1, by, pool->width);
}

/** Makes them the longer of its ways and of b's, where each of these is longer by @p by. False when
 * memory is out. */
bool tm_labels_merge(tm_label_pool *pool, tm_labels *a, const tm_labels *b,
                     const int64_t *const *by);

/** Forgets what is news. */
void tm_ways_known(tm_ways *ways);

/** Some were taken out of them. */
void tm_ways_fewer(tm_label_pool *pool, tm_ways *ways);

#endif
