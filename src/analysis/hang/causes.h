/* Who holds a stuck job up, of all who wait for one another. */
#ifndef TMERGE_HANG_CAUSES_H
#define TMERGE_HANG_CAUSES_H

#include "fronts.h"

/** Why ranks are named. */
typedef enum tm_hang_reason {
    TM_HANG_NOTHING,    /* no front: nobody waits */
    TM_HANG_DIFFERS,    /* they came with another operation, size or type than most */
    TM_HANG_NOT_ISSUED, /* others wait for them, and they wait for nobody */
    TM_HANG_LOST,       /* others wait, and these left no dump */
    TM_HANG_CIRCLE,     /* they wait for one another */
    /* Nobody is named: */
    TM_HANG_OPEN,    /* nobody is missing */
    TM_HANG_TIMES,   /* the dumps are of different times */
    TM_HANG_UNTOLD,  /* whether those came that may be missing, their dumps do not tell */
    TM_HANG_UNKNOWN, /* something is not over, and no front tells why */
    TM_HANG_RUNNING  /* nobody has waited long */
} tm_hang_reason;

typedef struct tm_hang_causes {
    tm_hang_reason reason;
    tm_vec culprits;    /* of int64_t, ascending */
    tm_vec also;        /* likewise: without a dump, so that they may be missing too */
    tm_vec besides;     /* likewise, beside a mismatch: those for whom others wait, and who wait for
                         * nobody and are in no mismatch */
    bool sure;          /* one cause: nobody else explains what is seen */
    int64_t longest_ns; /* TM_HANG_RUNNING: nobody has waited longer */
    size_t front;       /* the first in which they are missed or differ; fronts.n: none */
    size_t front_besides; /* likewise of those besides */
} tm_hang_causes;

/** Names them, and marks the fronts that they hold up. False when memory is out. */
bool tm_hang_find_causes(tm_hang_world *world, tm_hang_causes *out);
void tm_hang_causes_free(tm_hang_causes *causes);

#endif
