/* What a node of a rank's graph carries while the graph is reduced: how long after each port at the
 * latest, in each set of weights. */
#ifndef TMERGE_REPLAY_LABELS_H
#define TMERGE_REPLAY_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/lanes.h"

/** The longest ways from ports to one node. */
typedef struct tm_labels {
    struct tm_labels *next; /* of those that are free */
    size_t n;
    size_t size;    /* which of the pool's sizes it has */
    uint32_t *from; /* [n] visits, ascending; the root (TM_FROM_ROOT) is the last */
    int64_t *ns;    /* [n][width] */
    uint8_t *alive; /* [n] bit by rank: whether it has that way */
} tm_labels;

enum { TM_LABEL_SIZES = 30 };

/** Where they come from and go back to, so that the few in use stay in the cache. */
typedef struct tm_label_pool {
    const tm_lanes *lanes;
    size_t width;   /* of a row: room for all sets */
    tm_arena arena; /* begins empty; to be freed by the owner, with all labels */
    tm_labels *free[TM_LABEL_SIZES];
} tm_label_pool;

/** Room for @p n labels, none in use; NULL when memory is out. */
tm_labels *tm_labels_new(tm_label_pool *pool, size_t n);
void tm_labels_release(tm_label_pool *pool, tm_labels *labels);

/** A copy, each way longer by @p by [width / TM_LANES]; NULL when memory is out. */
tm_labels *tm_labels_copy(tm_label_pool *pool, const tm_labels *labels, const int64_t *const *by);

/** Makes each way longer by @p by [width / TM_LANES]. */
void tm_labels_add(const tm_label_pool *pool, tm_labels *labels, const int64_t *const *by);

/** The longer ways of a, which is released, and of b, where each is longer by @p by; NULL
 * when memory is out. */
tm_labels *tm_labels_merge(tm_label_pool *pool, tm_labels *a, const tm_labels *b,
                           const int64_t *const *by);

#endif
