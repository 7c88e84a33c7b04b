/* Labels of nodes while a graph is reduced. A way is the longest path from a boundary node to a
 * node, in each set of weights. */
#ifndef TMERGE_REPLAY_LABELS_H
#define TMERGE_REPLAY_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory_pages.h"
#include "base/simd_lanes.h"

/** The ways from boundary nodes to a node. Labels of several nodes may share them; they are then
 * the ways to the first of these nodes. */
typedef struct tm_ways {
    _Alignas(TM_LINE) struct tm_ways *next; /* free list */
    size_t n;
    size_t size;      /* index in pool->ways of the list of ways of this size */
    size_t users;     /* number of labels that use these ways. With several users, they must not be
                         changed */
    uint64_t settled; /* reduction.now at the last removal of redundant ways; `came` and `grew` mark
                         changes since then */
    uint64_t number;  /* version: equal numbers mean equal contents */
    uint64_t holds;   /* a version: merging the ways of this version into these changes nothing,
                         unless they are made longer by more than `most` */
    int64_t *most;    /* [width] limit for `holds`; unused if holds is 0 */
    bool news;        /* at least one way came or grew */
    uint32_t *from;   /* [n] keys of sources, ascending; the root (TM_FROM_ROOT) comes last */
    int64_t *ns;      /* [n][width] */
    uint8_t *alive;   /* [n] one bit per rank: whether the rank has this way */
    uint8_t *came; /* [n] one bit per rank: whether the rank got this way after redundant ways were
                      last removed */
    uint8_t *grew; /* [n] one bit per rank: whether the way became longer after redundant ways were
                      last removed */
} tm_ways;

/** The ways to a node, and a length to add to them. */
typedef struct tm_labels {
    struct tm_labels *next; /* free list */
    tm_ways *ways;
    _Alignas(TM_LINE) int64_t plus[]; /* [width] added to the length of each way */
} tm_labels;

enum { TM_LABEL_SIZES = 30 };

/** Allocates labels. Reuses freed ones, so that the few in use stay in the cache. */
typedef struct tm_label_pool {
    const tm_lanes *lanes;
    size_t width;   /* number of values in a row: those of all sets, padded */
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

/** Appends a way that no rank has yet. Its source must come after those of all other ways. Returns
 * its lengths, which the caller sets. */
int64_t *tm_ways_append(const tm_label_pool *pool, tm_ways *ways, uint32_t from);

/** Returns labels with the same ways, made longer by @p by [width / TM_LANES]; NULL when out of
 * memory. */
tm_labels *tm_labels_longer(tm_label_pool *pool, const tm_labels *labels, const int64_t *const *by);

/** Makes each way longer by @p by [width / TM_LANES]. */
static inline void tm_labels_add(const tm_label_pool *pool, tm_labels *labels,
                                 const int64_t *const *by) {
    pool->lanes->add(labels->plus, labels->plus, 1, by, pool->width);
}

/** Merges b's ways, each made longer by @p by, into a's ways. Of two ways from one source, keeps
 * the longer one. False when out of memory. */
bool tm_labels_merge(tm_label_pool *pool, tm_labels *a, const tm_labels *b,
                     const int64_t *const *by);

/** Clears `came` and `grew`. */
void tm_ways_known(tm_ways *ways);

/** Assigns a new version number. Call it when ways were removed. */
void tm_ways_fewer(tm_label_pool *pool, tm_ways *ways);

#endif
