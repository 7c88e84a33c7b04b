/* Clusters of ranks that ran the same operations. Matching without metadata starts with clusters of
 * one rank and stream, and joins clusters. */
#ifndef TMERGE_CLUSTER_H
#define TMERGE_CLUSTER_H

#include "run.h"

/** What a cluster stores about an operation besides its mark. */
typedef struct tm_cluster_op {
    int64_t first_end_ns; /* the earliest end */
    int32_t n;            /* number of ranks that have the operation */
    /* All ranks leave the operation together, so that differences between starts show who was
     * late. */
    bool telling;
    bool bare; /* without metadata */
} tm_cluster_op;

/** A member of a cluster: a rank or, when hosts are joined, a cluster of one host. */
typedef struct tm_member {
    int64_t source; /* the caller's number for the member */
    /* The rank, or the host if the member is a cluster. All members of a cluster have different
     * slots. */
    int64_t slot;
} tm_member;

typedef struct tm_cluster {
    /* Owned. A mark starts at the latest start of all members, and ends at the lower median of
     * their ends. */
    tm_run run;
    tm_cluster_op *ops; /* [run.n] */
    tm_member *members; /* [n_members]; all times are on the clock of member 0 */
    size_t n_members;
    int64_t *ends;     /* [run.n x n_members] end of each operation on each member; TM_NO_END if the
                          member lacks it */
    int64_t *places;   /* [run.n x n_members] index of the operation among the member's own
                          operations; -1: none */
    int64_t spread_ns; /* median distance of ends from the median end of their operation */
    /* Evidence [bits] for the weakest of the joins from which the cluster was made. HUGE_VAL if
     * there was no join. */
    double bits;
    bool at_least; /* the cluster may lack members */
} tm_cluster;

#define TM_NO_END INT64_MIN

/** How the operations and the clock of cluster a map to those of cluster b. */
typedef struct tm_bridge {
    /* [operations of a] index of the same operation in b; -1 if b does not have it */
    const int64_t *partners;
    int64_t offset_ns; /* b's clock minus a's clock, at at_ns */
    int64_t at_ns;     /* on a's clock */
    double drift;      /* change of the offset per nanosecond on a's clock */
} tm_bridge;

/** Returns b's clock minus a's clock at a time on a's clock. */
int64_t tm_bridge_offset(const tm_bridge *bridge, int64_t ns);

/**
 * Creates a cluster with one member. The caller must then fill in marks (ascending by end) and ops,
 * and call tm_cluster_ready.
 * @return  TM_OK; TM_ERR_FAULT: nothing needs to be freed
 */
tm_status tm_cluster_create(size_t n, tm_member member, tm_cluster *out,
                            tm_error *err) TM_MUST_CHECK;
tm_status tm_cluster_ready(tm_cluster *cluster, tm_error *err) TM_MUST_CHECK;
void tm_cluster_free(tm_cluster *cluster);

/** Merges two clusters. The result has the operations and the clock of cluster a.
 * @param out  set only on TM_OK; a and b are unchanged */
tm_status tm_cluster_join(const tm_cluster *a, const tm_cluster *b, const tm_bridge *bridge,
                          tm_cluster *out, tm_error *err) TM_MUST_CHECK;

/** Returns the lower median of [n] values in any order; 0 if there are none. Reorders the
 * values. */
int64_t tm_cluster_median(int64_t *values, size_t n);

#endif
