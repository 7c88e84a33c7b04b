/* Labels of nodes, which are used while a graph is reduced. A label describes how far a node is
 * from the boundary nodes, as a list of distances. A distance is the length of the longest path
 * from one boundary node to the node, in each set of weights. */
#ifndef TMERGE_REPLAY_LABELS_H
#define TMERGE_REPLAY_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory_pages.h"
#include "base/simd_lanes.h"

/** The distances from boundary nodes to a node. The labels of several nodes can share distances.
 * Shared distances lead to the first of these nodes, and each label adds its own `plus` to their
 * lengths. */
typedef struct tm_distances {
    _Alignas(TM_LINE) struct tm_distances *next; /* free list */
    size_t n;
    size_t size;  /* index in pool->distances of the free list for distances of this capacity */
    size_t users; /* number of labels that use these distances. Distances with several users must
                     not be changed */
    uint64_t settled; /* value of reduction.now when redundant distances were last removed. `came`
                         and `grew` mark later changes */
    uint64_t number;  /* version number: distances with equal numbers have equal contents */
    /* version number of other distances, W, that these distances already contain; 0 if there are
     * none. Merging W changes nothing, unless W was made longer by more than `most` */
    uint64_t holds;
    int64_t *most; /* [width] see `holds`; not set if `holds` is 0 */
    bool news; /* a distance was added, or became longer, after the last call of tm_distances_known
                */
    uint32_t
        *from; /* [n] keys of the distances' sources, ascending. The root (TM_FROM_ROOT) is last */
    int64_t *ns;    /* [n][width] */
    uint8_t *alive; /* [n] one bit for each rank: set if the rank has this distance */
    uint8_t *came;  /* [n] one bit for each rank: set if the rank got this distance after redundant
                       distances  were last removed */
    uint8_t *grew;  /* [n] one bit for each rank: set if the distance became longer after redundant
                       distances  were last removed */
} tm_distances;

/** A node's label: the distances to the node. The label adds `plus` to the length of each
 * distance. */
typedef struct tm_labels {
    struct tm_labels *next; /* free list */
    tm_distances *distances;
    _Alignas(TM_LINE) int64_t plus[]; /* [width] amounts added to the lengths of the distances */
} tm_labels;

enum { TM_LABEL_SIZES = 30 };

/** Allocator of labels. Freed labels are reused, so that the few labels in use stay in the
 * cache. */
typedef struct tm_label_pool {
    const tm_lanes *lanes;
    size_t width; /* number of lengths in a distance, padded. A distance has one length for each set
                     or, in a batch, for each set and rank */
    tm_pages pages; /* empty at first. The owner of the pool frees it, and all labels with it */
    tm_labels *labels;
    tm_distances *distances[TM_LABEL_SIZES];
    int64_t *apart;  /* [width] scratch memory; initially NULL */
    uint64_t number; /* latest version number assigned */
} tm_label_pool;

/** Returns labels that have no distance yet, room for @p n distances, and a `plus` of 0. Returns
 * NULL when out of memory. */
tm_labels *tm_labels_new(tm_label_pool *pool, size_t n);
void tm_labels_release(tm_label_pool *pool, tm_labels *labels);

/** Appends a distance that no rank has yet. @p from must be greater than the sources of all other
 * distances. Returns the distance's lengths, which the caller must set. */
int64_t *tm_distances_append(const tm_label_pool *pool, tm_distances *distances, uint32_t from);

/** Returns labels that share the distances of @p labels. The lengths are increased by @p by
 * [width / TM_LANES]. Returns NULL when out of memory. */
tm_labels *tm_labels_longer(tm_label_pool *pool, const tm_labels *labels, const int64_t *const *by);

/** Increases the lengths of each distance by @p by [width / TM_LANES]. */
static inline void tm_labels_add(const tm_label_pool *pool, tm_labels *labels,
                                 const int64_t *const *by) {
    pool->lanes->add(labels->plus, labels->plus, 1, by, pool->width);
}

/** Adds @p by to the lengths of b's distances, and merges the result into a's distances. If both
 * have a distance from the same source, the longer distance is kept. The distances of b do not
 * change. False when out of memory. */
bool tm_labels_merge(tm_label_pool *pool, tm_labels *a, const tm_labels *b,
                     const int64_t *const *by);

/** Clears `came`, `grew` and `news`. */
void tm_distances_known(tm_distances *distances);

/** Assigns a new version number. The caller must call this after it removed distances. */
void tm_distances_fewer(tm_label_pool *pool, tm_distances *distances);

#endif
