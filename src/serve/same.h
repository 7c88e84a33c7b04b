/* Where the same kernel or call also ran: before and after on its own rank, and at the same place
 * on the other ranks. */
#ifndef TMERGE_SERVE_SAME_H
#define TMERGE_SERVE_SAME_H

#include "base/vec.h"
#include "serve/row_reader.h"

typedef struct tm_same_wish {
    int64_t rank, begin_ns, duration_ns; /* of the event; begin from the job's start */
    bool host;                           /* true: on a thread; false: on a stream */
    int64_t at;                          /* index of the rank to start with */
    int64_t budget_ns;                   /* no rank is started after this time, except the first */
} tm_same_wish;

/** The same event on another rank: equal name, step and occurrence index. */
typedef struct tm_same_peer {
    int64_t rank, begin_ns,
        duration_ns; /* duration_ns is -1 if the name occurs less often on this rank */
    int64_t times;
} tm_same_peer;

typedef struct tm_same {
    tm_serve_event event; /* the requested event */
    int64_t step;         /* the event's step; TM_SERVE_NO_STEP: it is outside of all steps, so
                             whole ranks are compared */
    int64_t place;        /* occurrence index (0-based) in the step */
    int64_t times;        /* occurrences of the name in the step; 0: event not found */
    int64_t index, all;   /* occurrence index and occurrences on the whole rank */
    int64_t median_ns;    /* median duration of the occurrences on the rank */
    tm_serve_event before, behind; /* the name's events before and after this one; duration_ns is -1
                                      if there is none */
    tm_vec peers;                  /* of tm_same_peer: the other ranks compared so far */
    tm_same_peer longest; /* longest occurrence in the step, on the event's rank and the ranks
                             compared so far */
    int64_t next, ranks;  /* next: index of the rank to continue with; ranks: number of ranks */
} tm_same;

/** Finds the same event on the other ranks.
 * @param out  its peers are owned by the caller, also after a failure
 * @return     TM_OK; TM_ERR_USAGE: the store does not have the rank; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_serve_same(tm_serve_reader *reader, const tm_same_wish *wish, tm_same *out,
                        tm_error *err) TM_MUST_CHECK;

#endif
