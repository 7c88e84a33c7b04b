/* Determines which ranks cause a hang. Many ranks wait, but only some of them keep others
 * waiting. */
#ifndef TMERGE_HANG_CAUSES_H
#define TMERGE_HANG_CAUSES_H

#include "fronts.h"

/** Why the ranks are named, or why no rank is named. */
typedef enum tm_hang_reason {
    TM_HANG_NOTHING,    /* there is no front, so no rank waits */
    TM_HANG_DIFFERS,    /* the named ranks issued another operation, size or type than most ranks */
    TM_HANG_NOT_ISSUED, /* other ranks wait for the named ranks, and the named ranks wait for nobody
                         */
    TM_HANG_LOST,       /* other ranks wait for the named ranks, which left no dump */
    TM_HANG_CIRCLE,     /* the named ranks wait for one another, in a circle */
    /* With the following reasons, no rank is named: */
    TM_HANG_OPEN,       /* no rank is missing */
    TM_HANG_TIMES,      /* the dumps were written at different times */
    TM_HANG_UNREPORTED, /* the dumps do not show whether all ranks came */
    TM_HANG_UNKNOWN,    /* an operation has not ended, and no front explains why */
    TM_HANG_RUNNING     /* no rank has waited unusually long */
} tm_hang_reason;

typedef struct tm_hang_causes {
    tm_hang_reason reason;
    tm_vec culprits; /* vector of int64_t, ascending: the named ranks */
    tm_vec also; /* vector of int64_t, ascending: ranks without a dump, which may also be missing */
    tm_vec besides; /* vector of int64_t, ascending: ranks that issued the right operations and do
                       not wait, although other ranks wait for them; only with TM_HANG_DIFFERS */
    bool sure;      /* whether only the named ranks can explain the hang */
    int64_t longest_ns; /* upper bound of a rank's wait [ns]; -1: unknown */
    size_t front; /* first front that a named rank has not reached, or at which named ranks differ;
                     fronts.n: none */
    size_t front_besides; /* first front that the ranks in `besides` have not reached; fronts.n:
                             none */
} tm_hang_causes;

/** Finds the causes, and marks their fronts. Returns false if out of memory. */
bool tm_hang_find_causes(tm_hang_world *world, tm_hang_causes *out);
void tm_hang_causes_free(tm_hang_causes *causes);

#endif
