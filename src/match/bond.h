/* Whether two parties ran the same operations together: the proof of their order, and what the
 * lateness of one and the waiting of the other say. */
#ifndef TMERGE_BOND_H
#define TMERGE_BOND_H

#include "party.h"

typedef enum tm_bond_state {
    TM_BOND_NONE,    /* their operations do not correspond */
    TM_BOND_OPEN,    /* they may be of one group, or not */
    TM_BOND_HOLDS,   /* they are: one waited where the other was late */
    TM_BOND_REFUTED, /* they are not: one left before the other came */
} tm_bond_state;

/** What two parties say of one another. */
typedef struct tm_bond {
    uint8_t state;       /* tm_bond_state */
    int64_t distance_ns; /* median distance of their ends */
    int64_t noise_ns;    /* of an end's distance */
    int64_t scatter_ns;  /* median distance of those from their median */
    double bits;         /* log2 of how unlikely what was explained is by chance */
    int64_t n_explained; /* operations: one party was late, and the other left with it */
    int64_t n_contradicted;
    int64_t offset_ns, at_ns; /* as in tm_bridge */
    double drift;
} tm_bond;

/**
 * Brings the operations of two parties together, proves their order and weighs the evidence.
 *
 * On one clock ends are compared as they are, else an offset and drift are taken from them first,
 * and the median lateness with them: that ends agree says nothing then. The order is proven where
 * ends meet five times nearer than if one party's operations were shifted by 1 to 16 places.
 *
 * An operation is informative where one party came later than the other by over 5 times the noise.
 * It is explained where both left together within 3, and contradicted where they left apart by over
 * half of that lateness. A bond holds with 4 bits, and a contradiction for three explained at most;
 * it is refuted where contradictions have as many bits, or one left before the other came.
 *
 * @param partners  [a->run.n] filled; see tm_bridge
 * @param out       set on TM_OK
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_bond_try(const tm_party *a, const tm_party *b, bool one_clock, int64_t *partners,
                      tm_bond *out, tm_error *err) TM_MUST_CHECK;

#endif
