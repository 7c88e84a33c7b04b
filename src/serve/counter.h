/* What is under way on a rank at each moment of a window: launches that wait, and bytes. */
#ifndef TMERGE_SERVE_COUNTER_H
#define TMERGE_SERVE_COUNTER_H

#include "base/vec.h"
#include "serve/request.h"
#include "serve/walk.h"

typedef enum tm_counter_what {
    TM_COUNTER_QUEUE,       /* kernels, copies and sets that were launched and have not begun */
    TM_COUNTER_COPIES,      /* bytes of copies and sets by their durations [B/ns] */
    TM_COUNTER_COLLECTIVES, /* of matched collectives by the time from the last arrival on [B/ns] */
    TM_N_COUNTERS
} tm_counter_what;

typedef struct tm_counters tm_counters;

/** @param tiler  used as long as they are, as is the reader of it  @param out  closed by the
 * caller, before the events; set only on TM_OK  @return  TM_OK; TM_ERR_FAULT */
tm_status tm_counters_open(const tm_tiler *tiler, const tm_serve_reader *reader, tm_counters **out,
                           tm_error *err) TM_MUST_CHECK;
void tm_counters_close(tm_counters *counters);

/** How many columns a window may be divided into. */
enum { TM_COUNTER_COLUMNS_MAX = 16384 };

typedef struct tm_counter_wish {
    tm_counter_what what;
    int64_t from, to; /* [ns] from the job's begin */
    size_t n;         /* columns: the window in equal parts */
    const tm_serve_range *ranks;
    size_t n_ranks;    /* 0: all */
    int64_t at;        /* place of the rank to begin with */
    int64_t budget_ns; /* it ends behind the first rank after so much time */
} tm_counter_wish;

/** From a column on until the rank's next: the most that there is at any moment of it. The first
 * of a rank is of column 0. */
typedef struct tm_counter_step {
    int64_t rank;
    uint32_t column;
    double most;
} tm_counter_step;

/**
 * @param steps  of tm_counter_step: appended, rank after rank
 * @param next   place of the rank to go on with; of all ranks the number where all were seen
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_counter_find(tm_counters *counters, const tm_counter_wish *wish, tm_vec *steps,
                          int64_t *next, tm_error *err) TM_MUST_CHECK;

#endif
