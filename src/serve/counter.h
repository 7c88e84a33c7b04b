/* Counters of a rank over a window: queued launches and transfer rates. */
#ifndef TMERGE_SERVE_COUNTER_H
#define TMERGE_SERVE_COUNTER_H

#include "base/vec.h"
#include "serve/access.h"
#include "serve/row_reader.h"

typedef enum tm_counter_what {
    TM_COUNTER_QUEUE,       /* number of kernels, copies and memory sets that were launched but have
                               not started */
    TM_COUNTER_COPIES,      /* bandwidth of copies and sets: bytes / duration [B/ns] */
    TM_COUNTER_COLLECTIVES, /* bandwidth of matched collectives: bytes / time from the last arrival
                               to the end [B/ns] */
    TM_N_COUNTERS
} tm_counter_what;

typedef struct tm_counters tm_counters;

/** Opens the counters of a store.
 * @param tiler  and @p reader must outlive the counters
 * @param out    closed by the caller, before tiler->events; set only on TM_OK
 * @return       TM_OK; TM_ERR_FAULT */
tm_status tm_counters_open(const tm_tiler *tiler, const tm_serve_reader *reader, tm_counters **out,
                           tm_error *err) TM_MUST_CHECK;
void tm_counters_close(tm_counters *counters);

/** Maximum number of columns of a window. */
enum { TM_COUNTER_COLUMNS_MAX = 16384 };

typedef struct tm_counter_wish {
    tm_counter_what what;
    int64_t from, to; /* [ns] from the job's start */
    size_t n;         /* number of columns of equal width */
    const tm_serve_range *ranks;
    size_t n_ranks;    /* 0: all ranks */
    int64_t at;        /* index of the rank to start with */
    int64_t budget_ns; /* time limit [ns], after which no rank except the first is started */
} tm_counter_wish;

/** Maximum of the counter on a rank, in each column from `column` up to the column before the
 * rank's next entry. A rank's first entry has column 0. */
typedef struct tm_counter_step {
    int64_t rank;
    uint32_t column;
    double most;
} tm_counter_step;

/** Computes the counter of the requested ranks.
 * @param steps  vector of tm_counter_step: the ranks' entries are appended, rank by rank
 * @param next   set to the index of the rank at which the next call continues, or to the number of
 *               ranks when all ranks are done
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_counter_find(tm_counters *counters, const tm_counter_wish *wish, tm_vec *steps,
                          int64_t *next, tm_error *err) TM_MUST_CHECK;

#endif
