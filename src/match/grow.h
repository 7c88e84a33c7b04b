/* Grows clusters of ranks that ran the same operations, starting from single ranks. */
#ifndef TMERGE_GROW_H
#define TMERGE_GROW_H

#include "base/vec.h"
#include "cluster.h"

/** What is known of all clusters that are to be joined. */
typedef struct tm_growth {
    bool one_clock; /* whether all clusters share a clock; otherwise each slot has its own */
    /* If each slot has its own clock: the largest clock offset that a single pair of clusters can
     * prove. */
    int64_t limit_ns;
} tm_growth;

/**
 * Joins clusters that are proven to have run the same operations (tm_link_test_try), strongest
 * evidence first, until no such pair is left. Never joins two clusters that share a slot. Sets
 * `at_least` in clusters of which it is unknown whether they belong together. A join that implies a
 * clock offset above the limit requires a second pair of clusters from the same two slots with the
 * same offset.
 *
 * Work: (clusters)^2 x operations; above a hundred or so clusters, groups x clusters. Memory:
 * (clusters)^2.
 *
 * @param clusters  of tm_cluster, in an order that only their content determines; clusters that
 * were merged into another are freed and removed
 * @return         TM_OK; TM_ERR_FAULT: the caller still frees the clusters
 */
tm_status tm_clusters_grow(tm_vec *clusters, const tm_growth *growth, tm_error *err) TM_MUST_CHECK;

void tm_clusters_free(tm_vec *clusters);

#endif
