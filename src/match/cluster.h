/* Clusters of ranks that ran the same operations. Matching without metadata grows them, starting
 * from one stream of a single rank. */
#ifndef TMERGE_CLUSTER_H
#define TMERGE_CLUSTER_H

#include "run.h"

/** One operation of a cluster, in addition to its mark. */
typedef struct tm_cluster_op {
    int64_t first_end_ns; /* the earliest end */
    int32_t n;            /* ranks that have it */
    bool telling;         /* early ranks leave it together with the last, so that lateness shows */
    bool bare;            /* without metadata */
} tm_cluster_op;

/** A member of a cluster whose ends are kept: a rank, or, between hosts, a cluster of one host. */
typedef struct tm_member {
    int64_t source; /* the caller's number for it */
    int64_t slot;   /* slot: its rank, or its host; no cluster has two members of one slot */
} tm_member;

typedef struct tm_cluster {
    tm_run run;         /* owned; starts are the latest of the cluster, ends the lower median */
    tm_cluster_op *ops; /* [run.n] */
    tm_member *members; /* [n_members] members; the first one's clock is the cluster's */
    size_t n_members;
    int64_t *ends;     /* [run.n x n_members] by operation; TM_NO_END if a member lacks it */
    int64_t *places;   /* same shape: index among the member's own operations; -1 */
    int64_t spread_ns; /* median deviation of ends from their median */
    double bits;       /* evidence of the weakest join; HUGE_VAL without joins */
    bool at_least;     /* whether the cluster may have further members */
} tm_cluster;

#define TM_NO_END INT64_MIN

/** How the operations of cluster a map to another cluster's. */
typedef struct tm_bridge {
    const int64_t *partners; /* [a's n] index of the other's operation; -1 */
    int64_t offset_ns;       /* of the other's clock from a's, at at_ns */
    int64_t at_ns;           /* on a's clock */
    double drift;            /* growth of the offset with a's time */
} tm_bridge;

/** Returns the offset to add to a time of the first cluster to get the other's clock. */
int64_t tm_bridge_offset(const tm_bridge *bridge, int64_t ns);

/**
 * Creates a cluster with one member. The caller fills in its marks (ascending by end) and ops, and
 * calls tm_cluster_ready.
 * @return  TM_OK; TM_ERR_FAULT: nothing needs to be freed
 */
tm_status tm_cluster_create(size_t n, tm_member member, tm_cluster *out,
                            tm_error *err) TM_MUST_CHECK;
tm_status tm_cluster_ready(tm_cluster *cluster, tm_error *err) TM_MUST_CHECK;
void tm_cluster_free(tm_cluster *cluster);

/** Merges two clusters. The result has the operations and the clock of the first.
 * @param out  set only on TM_OK; a and b are unchanged */
tm_status tm_cluster_join(const tm_cluster *a, const tm_cluster *b, const tm_bridge *bridge,
                          tm_cluster *out, tm_error *err) TM_MUST_CHECK;

/** Returns the lower median of [n] values in any order, 0 for none. Reorders them. */
int64_t tm_cluster_median(int64_t *values, size_t n);

#endif
