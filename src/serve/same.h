/* Finds other runs of a kernel or call: the previous and the next run on its own rank, and the run
 * at the same place on each other rank. */
#ifndef TMERGE_SERVE_SAME_H
#define TMERGE_SERVE_SAME_H

#include "base/vec.h"
#include "serve/row_reader.h"

typedef struct tm_same_wish {
    int64_t rank, begin_ns, duration_ns; /* the event, with its begin from the job's start */
    bool host;                           /* true: the event is on a host thread; false: it is on a
                                            GPU stream */
    int64_t at;                          /* index of the rank to start with */
    int64_t budget_ns; /* time limit [ns], after which no rank except the first is started */
} tm_same_wish;

/** The same event on another rank: it has the same name, step and occurrence index. */
typedef struct tm_same_peer {
    int64_t rank, begin_ns,
        duration_ns; /* duration_ns is -1 if the name occurs less often on this rank */
    int64_t times;
} tm_same_peer;

typedef struct tm_same {
    tm_serve_event event; /* the requested event */
    int64_t step;  /* the event's step; TM_SERVE_NO_STEP if the event is outside of all steps. In
                      that case whole ranks are compared, not steps */
    int64_t place; /* occurrence index (0-based) in the step */
    int64_t times; /* number of occurrences of the name in the step; 0: the event was not found */
    int64_t index, all; /* occurrence index, and number of occurrences, on the whole rank */
    int64_t median_ns;  /* median duration of the occurrences on the rank */
    tm_serve_event before, after; /* the previous and the next event of the name; duration_ns is -1
                                      if there is none */
    tm_vec peers;                 /* vector of tm_same_peer: the other ranks compared so far */
    tm_same_peer longest; /* longest event of this name in the step, on the event's own rank and on
                             the ranks compared so far */
    int64_t next, ranks;  /* next: index of the rank to continue with; ranks: number of ranks */
} tm_same;

/** Finds the same event on the other ranks.
 * @param out  its peers are owned by the caller, also after a failure
 * @return     TM_OK; TM_ERR_USAGE: the store does not have the rank; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_serve_same(tm_serve_reader *reader, const tm_same_wish *wish, tm_same *out,
                        tm_error *err) TM_MUST_CHECK;

#endif
