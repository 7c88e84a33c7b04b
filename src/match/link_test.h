/* Tests whether two clusters of ranks ran the same operations. The evidence is the order of the
 * operations, and that one cluster waited while the other was late. */
#ifndef TMERGE_LINK_TEST_H
#define TMERGE_LINK_TEST_H

#include "cluster.h"

typedef enum tm_link_test_state {
    TM_LINK_TEST_NONE,    /* the operations of the two clusters do not correspond */
    TM_LINK_TEST_OPEN,    /* it is not known whether the clusters are of one group */
    TM_LINK_TEST_HOLDS,   /* the clusters are of one group, because one waited while the other was
                             late */
    TM_LINK_TEST_REFUTED, /* the clusters are not of one group, because one left before the other
                             arrived */
} tm_link_test_state;

/** The evidence on whether two clusters belong together. */
typedef struct tm_link_test {
    uint8_t state;       /* tm_link_test_state */
    int64_t distance_ns; /* median distance of the ends of paired operations */
    int64_t noise_ns;    /* noise of distance_ns */
    int64_t scatter_ns;  /* median distance of the end differences from their median */
    double bits;         /* evidence: -log2 of the probability that n_explained is due to chance */
    int64_t n_explained; /* number of operations in which one cluster came late and both left
                            together */
    int64_t n_contradicted;
    int64_t offset_ns, at_ns; /* as in tm_bridge */
    double drift;
} tm_link_test;

/**
 * Pairs the operations of two clusters, checks their order and weighs the evidence.
 *
 * On one clock, ends are compared directly. On different clocks, offset and drift are first fitted
 * to the ends, and the median lateness is subtracted. So ends that merely agree are no evidence.
 *
 * The order is proven if ends are five times closer than at any shift by 1 to 16 places.
 *
 * An operation is evidence if one cluster came later than the other by more than 5 times the noise.
 * If the two clusters then left at most 3 times the noise apart, the operation is explained. If
 * they left more than half of the lateness apart, it is contradicted.
 *
 * The pairing holds if there are at least 4 bits of evidence, and at most one contradicted
 * operation for three explained ones. It is refuted if there are 4 bits of contradictions, or if
 * one cluster left before the other came.
 *
 * @param partners  [a->run.n] set, as in tm_bridge
 * @param out       set on TM_OK
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_link_test_try(const tm_cluster *a, const tm_cluster *b, bool one_clock,
                           int64_t *partners, tm_link_test *out, tm_error *err) TM_MUST_CHECK;

#endif
