/* Sums of what ran on ranks in a time range. A call has a time limit, so it may sum only some of
 * the ranks. */
#ifndef TMERGE_SERVE_AREA_H
#define TMERGE_SERVE_AREA_H

#include "base/vec.h"
#include "serve/access.h"
#include "serve/row_reader.h"

typedef struct tm_area_wish {
    int64_t from, to;            /* [from, to) [ns] from the job's start */
    const tm_serve_range *ranks; /* [n_ranks] the ranks to sum; if n_ranks is 0, all ranks */
    size_t n_ranks;
    bool host;         /* true: operators on host threads; false: kernels and copies on GPUs */
    int64_t at;        /* index of the rank to start with */
    int64_t budget_ns; /* time limit [ns], after which no rank except the first is started */
} tm_area_wish;

/** Sum of a rank's events of one name and kind. Only their parts within the time range count. */
typedef struct tm_area_sum {
    int64_t rank, count, sum_ns;
    int64_t self_ns; /* sum_ns without the time of nested operators; equal to sum_ns on GPUs */
    int64_t longest_ns;
    uint32_t name;
    uint8_t kind; /* as in tm_serve_event */
} tm_area_sum;

/** Sums the events of the requested ranks.
 * @param sums  a vector of tm_area_sum that is empty before the call. The sums of a rank follow
 *              those of the previous rank, in the order of the rank's events
 * @param next  set to the index of the rank at which the next call continues, or to the number of
 *              ranks when all ranks are done
 * @param seen  number of requested ranks summed by this call
 * @return      TM_OK; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_serve_area(tm_serve_reader *reader, const tm_area_wish *wish, tm_vec *sums,
                        int64_t *next, int64_t *seen, tm_error *err) TM_MUST_CHECK;

#endif
