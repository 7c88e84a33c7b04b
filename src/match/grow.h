/* Grows clusters of ranks that ran the same operations, starting from single ranks. */
#ifndef TMERGE_GROW_H
#define TMERGE_GROW_H

#include "base/vec.h"
#include "cluster.h"

/** Properties of the clusters that are to be joined. */
typedef struct tm_growth {
    /* whether all clusters have one clock; otherwise, each slot has its own clock */
    bool one_clock;
    /* Only used if each slot has its own clock. If the clock offset is at most this, one pair of
     * clusters is proof enough. Above it, one pair must have far more evidence (32 bits), or a
     * second pair must confirm the offset. */
    int64_t limit_ns;
} tm_growth;

/**
 * Joins clusters that are proven to have run the same operations (see tm_link_test_try), the
 * strongest evidence first. Two clusters that share a slot are never joined. If a cluster may
 * belong to another one, but this is not proven, `at_least` is set. If the clock offset of a join
 * is above the limit, the evidence must be strong, or another pair of clusters from the same two
 * slots must have the same offset.
 *
 * The work is clusters^2 x operations or, for many clusters, groups x clusters x operations. The
 * memory is clusters^2.
 *
 * @param clusters  vector of tm_cluster, in an order that depends only on their content; a merged
 *                  cluster replaces the clusters that it was made from
 * @return          TM_OK; TM_ERR_FAULT: the caller must still free the clusters
 */
tm_status tm_clusters_grow(tm_vec *clusters, const tm_growth *growth, tm_error *err) TM_MUST_CHECK;

void tm_clusters_free(tm_vec *clusters);

#endif
