/* Grows clusters of ranks that ran the same operations, starting from single ranks. */
#ifndef TMERGE_GROW_H
#define TMERGE_GROW_H

#include "base/vec.h"
#include "cluster.h"

/** Properties shared by all clusters that are to be joined. */
typedef struct tm_growth {
    bool one_clock; /* all clusters share a clock; otherwise each slot has its own */
    /* If each slot has its own clock: largest clock offset that a single pair of clusters may
     * establish. */
    int64_t limit_ns;
} tm_growth;

/**
 * Joins clusters whose pairing evidence holds (tm_link_test_try), strongest evidence first, until
 * none is left. Never joins two clusters that share a slot. Sets `at_least` on clusters that may or
 * may not belong together. A join that implies a clock offset above the limit requires a second
 * pair of clusters from the same two slots with the same offset.
 *
 * Work: (clusters)^2 x operations; above a hundred or so clusters, groups x clusters. Memory:
 * (clusters)^2.
 *
 * @param clusters  of tm_cluster, in an order determined by their content; clusters that were
 * merged into another are freed and removed
 * @return         TM_OK; TM_ERR_FAULT: the caller still frees the clusters
 */
tm_status tm_clusters_grow(tm_vec *clusters, const tm_growth *growth, tm_error *err) TM_MUST_CHECK;

void tm_clusters_free(tm_vec *clusters);

#endif
