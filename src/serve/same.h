/* The same kernel or call elsewhere: before and after on its rank, and at its place on the others,
 * in the whole store. */
#ifndef TMERGE_SERVE_SAME_H
#define TMERGE_SERVE_SAME_H

#include "base/vec.h"
#include "serve/walk.h"

typedef struct tm_same_wish {
    int64_t rank, begin_ns, duration_ns; /* of the event: begin from the job's */
    bool host;                           /* it is on a thread, else on a stream */
    int64_t at;                          /* place of the rank to begin with */
    int64_t budget_ns;                   /* it ends behind the first rank after so much time */
} tm_same_wish;

/** The event at the same place of a rank: of as many of its name in the step. */
typedef struct tm_same_peer {
    int64_t rank, begin_ns, duration_ns; /* duration -1: it ran there another number of times */
    int64_t times;
} tm_same_peer;

typedef struct tm_same {
    tm_serve_event event; /* as it was found */
    int64_t step;         /* TM_SERVE_NO_STEP: the rank has none then, and all of it is compared */
    int64_t place;        /* in the step, from 0 */
    int64_t times;        /* of the name in the step; 0: there is no such event */
    int64_t index, all;   /* likewise in all of the rank */
    int64_t median_ns;    /* of these */
    tm_serve_event before, behind; /* on the rank; duration -1: none */
    tm_vec peers;                  /* of tm_same_peer: the other ranks that were seen */
    tm_same_peer longest;          /* of the step on those and its own */
    int64_t next, ranks; /* place of the rank to go on with, of so many: all were seen there */
} tm_same;

/**
 * @param out  its peers are the caller's, also after a failure
 * @return     TM_OK; TM_ERR_USAGE: a rank that the store does not have; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_serve_same(tm_serve_reader *reader, const tm_same_wish *wish, tm_same *out,
                        tm_error *err) TM_MUST_CHECK;

#endif
