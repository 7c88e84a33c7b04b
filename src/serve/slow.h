/* How long kernels and copies took against the same ones at their places on the other ranks. */
#ifndef TMERGE_SERVE_SLOW_H
#define TMERGE_SERVE_SLOW_H

#include "base/vec.h"
#include "serve/request.h"
#include "serve/walk.h"

/** What was compared, step by step; those that were asked for last are kept. */
typedef struct tm_slow tm_slow;

/**
 * @param reader  outlives it
 * @param most    kernels and copies that are held of all steps, 4 bytes each
 * @param out     closed by the caller; set only on TM_OK
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_slow_open(tm_serve_reader *reader, size_t most, tm_slow **out,
                       tm_error *err) TM_MUST_CHECK;
void tm_slow_close(tm_slow *slow);

typedef struct tm_slow_wish {
    int64_t from, to; /* [ns] from the job's begin */
    const tm_serve_range *ranks;
    size_t n_ranks;    /* 0: all */
    int64_t at;        /* where to go on; 0 at first */
    int64_t budget_ns; /* it ends behind the first rank after so much time */
} tm_slow_wish;

typedef struct tm_slow_event {
    int64_t rank, begin_ns, duration_ns;
    double ratio; /* its duration by the median of the others' */
} tm_slow_event;

typedef struct tm_slow_answer {
    tm_vec events; /* of tm_slow_event: those that can be compared, by step, rank and begin */
    int64_t next;  /* where to go on; -1: that was all */
    int64_t step, seen, of; /* the step at hand, ranks that were read of it, of so many */
} tm_slow_answer;

/**
 * The kernels and copies of a window. Compared are those of one step and name, of ranks that ran
 * that as often: each with those at its place, in order of begin, on the others. What begins in no
 * step is not compared.
 *
 * @param out  its events are the caller's, also after a failure
 * @return     TM_OK; TM_ERR_USAGE: a step has more kernels and copies than may be held;
 *             TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_slow_find(tm_slow *slow, const tm_slow_wish *wish, tm_slow_answer *out,
                       tm_error *err) TM_MUST_CHECK;

#endif
