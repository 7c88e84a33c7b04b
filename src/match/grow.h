/* Grows clusters of ranks that ran the same operations, starting from single ranks. */
#ifndef TMERGE_GROW_H
#define TMERGE_GROW_H

#include "base/vec.h"
#include "cluster.h"

/** The clocks of the clusters to join. */
typedef struct tm_growth {
    bool one_clock; /* all clusters have one clock; false: each slot has its own clock */
    /* only if each slot has its own clock: above this clock offset, one pair of clusters does not
     * prove that two slots belong together */
    int64_t limit_ns;
} tm_growth;

/**
 * Joins clusters that are proven to have run the same operations (tm_link_test_try), strongest
 * evidence first. Never joins two clusters that share a slot. Sets `at_least` in clusters that may
 * belong to another cluster. If the clock offset of a join is above the limit, another pair of
 * clusters from the same two slots must have the same offset.
 *
 * Work: clusters^2 x operations; for many clusters, groups x clusters x operations. Memory:
 * clusters^2.
 *
 * @param clusters  of tm_cluster, in an order that depends only on their content; a merged
 *                  cluster replaces the clusters it was made of
 * @return          TM_OK; TM_ERR_FAULT: the caller still frees the clusters
 */
tm_status tm_clusters_grow(tm_vec *clusters, const tm_growth *growth, tm_error *err) TM_MUST_CHECK;

void tm_clusters_free(tm_vec *clusters);

#endif
