/* Labels of nodes while a graph is reduced: how far each node is from the boundary nodes. A way is
 * the length of the longest path from one boundary node to the node, in each set of weights. */
#ifndef TMERGE_REPLAY_LABELS_H
#define TMERGE_REPLAY_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory_pages.h"
#include "base/simd_lanes.h"

/** The ways from boundary nodes to a node. Labels of several nodes can share ways. The ways then
 * lead to the first of these nodes, and each label adds its `plus` to their lengths. */
typedef struct tm_ways {
    _Alignas(TM_LINE) struct tm_ways *next; /* free list */
    size_t n;
    size_t size;      /* capacity: index of the free list in pool->ways */
    size_t users;     /* number of labels that use these ways. If there are several, the ways must
                         not be changed */
    uint64_t settled; /* value of reduction.now when redundant ways were last removed; `came` and
                         `grew` mark the changes since then */
    uint64_t number;  /* version: equal numbers mean equal contents */
    uint64_t holds;   /* version of ways W that these ways contain: merging W changes nothing,
                         unless W is made longer by more than `most`; 0: none */
    int64_t *most;    /* [width] see `holds`; not set if holds is 0 */
    bool news;        /* a way came or grew after the last tm_ways_known */
    uint32_t *from; /* [n] keys of the ways' sources, ascending; the root (TM_FROM_ROOT) is last */
    int64_t *ns;    /* [n][width] */
    uint8_t *alive; /* [n] one bit for each rank: the rank has this way */
    uint8_t *came;  /* [n] one bit for each rank: the rank got this way after redundant ways were
                       last removed */
    uint8_t *grew;  /* [n] one bit for each rank: the way became longer after redundant ways were
                       last removed */
} tm_ways;

/** The ways to a node, and a length to add to them. */
typedef struct tm_labels {
    struct tm_labels *next; /* free list */
    tm_ways *ways;
    _Alignas(TM_LINE) int64_t plus[]; /* [width] to add to the length of each way */
} tm_labels;

enum { TM_LABEL_SIZES = 30 };

/** Allocator of labels. Reuses freed labels, so that the few in use stay in the cache. */
typedef struct tm_label_pool {
    const tm_lanes *lanes;
    size_t width;   /* number of lengths in a way: one for each set (in a batch, for each set and
                       rank), padded */
    tm_pages pages; /* empty at first; freed by the owner, with all labels */
    tm_labels *labels;
    tm_ways *ways[TM_LABEL_SIZES];
    int64_t *apart;  /* [width] scratch; initially NULL */
    uint64_t number; /* latest version number assigned */
} tm_label_pool;

/** Returns labels without a way, with room for @p n ways, and with `plus` 0; NULL when out of
 * memory. */
tm_labels *tm_labels_new(tm_label_pool *pool, size_t n);
void tm_labels_release(tm_label_pool *pool, tm_labels *labels);

/** Appends a way that no rank has yet. @p from must be greater than the sources of all other ways.
 * Returns the way's lengths, which the caller must set. */
int64_t *tm_ways_append(const tm_label_pool *pool, tm_ways *ways, uint32_t from);

/** Returns labels with the same ways, made longer by @p by [width / TM_LANES]; NULL when out of
 * memory. */
tm_labels *tm_labels_longer(tm_label_pool *pool, const tm_labels *labels, const int64_t *const *by);

/** Makes each way longer by @p by [width / TM_LANES]. */
static inline void tm_labels_add(const tm_label_pool *pool, tm_labels *labels,
                                 const int64_t *const *by) {
    pool->lanes->add(labels->plus, labels->plus, 1, by, pool->width);
}

/** Merges b's ways, each made longer by @p by, into a's ways. If both have a way from the same
 * source, keeps the longer one. False when out of memory. */
bool tm_labels_merge(tm_label_pool *pool, tm_labels *a, const tm_labels *b,
                     const int64_t *const *by);

/** Clears `came`, `grew` and `news`. */
void tm_ways_known(tm_ways *ways);

/** Assigns a new version number. The caller must call this after it removed ways. */
void tm_ways_fewer(tm_label_pool *pool, tm_ways *ways);

#endif
