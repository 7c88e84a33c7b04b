/* Compares kernels and copies with those at the same place on other ranks. */
#ifndef TMERGE_SERVE_SLOW_H
#define TMERGE_SERVE_SLOW_H

#include "base/vec.h"
#include "serve/access.h"
#include "serve/row_reader.h"

/** A cache of the steps compared most recently. */
typedef struct tm_slow tm_slow;

/** Opens an empty cache.
 * @param reader  must outlive the cache
 * @param most maximum number of kernels and copies in the cache, 4 bytes each
 * @param out     closed by the caller; set only on TM_OK
 * @return        TM_OK; TM_ERR_FAULT */
tm_status tm_slow_open(tm_serve_reader *reader, size_t most, tm_slow **out,
                       tm_error *err) TM_MUST_CHECK;
void tm_slow_close(tm_slow *slow);

typedef struct tm_slow_wish {
    int64_t from, to; /* [from, to) [ns] from the job's start */
    const tm_serve_range *ranks;
    size_t n_ranks; /* 0: all ranks */
    int64_t at;     /* where to start: 0 in the first call, then tm_slow_answer.next of the
                       previous call */
    int64_t
        budget_ns; /* time limit [ns], after which no piece of work except the first is started */
} tm_slow_wish;

typedef struct tm_slow_event {
    int64_t rank, begin_ns, duration_ns;
    double ratio; /* the event's duration, divided by the median duration on the other ranks */
} tm_slow_event;

typedef struct tm_slow_answer {
    tm_vec events; /* vector of tm_slow_event: the events that have a ratio, sorted by step, rank,
                      name and begin */
    int64_t next;  /* value of `at` for the next call; -1 if the answer is complete */
    int64_t step, seen, of; /* progress: in step `step`, `seen` of the `of` ranks have been read */
} tm_slow_answer;

/** Finds the kernels and copies of a window, and divides the duration of each by the median
 * duration on other ranks. Events are compared step by step: the k-th event of a name on a rank is
 * compared with the k-th event of the same name on the other ranks. Ranks that have different
 * numbers of events of the name in the step are not compared. Events that start outside of steps
 * are left out.
 *
 * @param out  its events are owned by the caller, also after a failure
 * @return     TM_OK; TM_ERR_USAGE: a step has more kernels and copies than can be held;
 *             TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_slow_find(tm_slow *slow, const tm_slow_wish *wish, tm_slow_answer *out,
                       tm_error *err) TM_MUST_CHECK;

#endif
