/* Determines which ranks cause a hang, among all that wait for one another. */
#ifndef TMERGE_HANG_CAUSES_H
#define TMERGE_HANG_CAUSES_H

#include "fronts.h"

/** Why ranks are named, or why none is. */
typedef enum tm_hang_reason {
    TM_HANG_NOTHING,    /* no rank waits, as there is no front */
    TM_HANG_DIFFERS,    /* they issued another operation, size or type than most ranks */
    TM_HANG_NOT_ISSUED, /* others wait for them, and they wait for no rank */
    TM_HANG_LOST,       /* others wait for them, and they left no dump */
    TM_HANG_CIRCLE,     /* they wait for one another, in a circle */
    /* Reasons for which no rank is named: */
    TM_HANG_OPEN,       /* no rank is missing */
    TM_HANG_TIMES,      /* the dumps are from different times */
    TM_HANG_UNREPORTED, /* the dumps do not show whether the possibly missing ranks came */
    TM_HANG_UNKNOWN,    /* an operation is not over, and no front explains why */
    TM_HANG_RUNNING     /* no rank has waited for longer than normal */
} tm_hang_reason;

typedef struct tm_hang_causes {
    tm_hang_reason reason;
    tm_vec culprits;    /* of int64_t, ascending: the named ranks */
    tm_vec also;        /* of int64_t, ascending: ranks without a dump, which may also be missing */
    tm_vec besides;     /* of int64_t, ascending, only with TM_HANG_DIFFERS: ranks that are not part
                           of the mismatch, wait for no rank, and are waited for */
    bool sure;          /* only the named ranks explain the hang */
    int64_t longest_ns; /* TM_HANG_RUNNING: maximum wait of a rank */
    size_t front;       /* first front where named ranks are missing or differ; fronts.n: none */
    size_t front_besides; /* the same for `besides` */
} tm_hang_causes;

/** Finds the causes and marks their fronts. Returns false if out of memory. */
bool tm_hang_find_causes(tm_hang_world *world, tm_hang_causes *out);
void tm_hang_causes_free(tm_hang_causes *causes);

#endif
