/* What ran in a time on some ranks, summed over the whole store, some ranks at a time. */
#ifndef TMERGE_SERVE_AREA_H
#define TMERGE_SERVE_AREA_H

#include "base/vec.h"
#include "serve/request.h"
#include "serve/walk.h"

typedef struct tm_area_wish {
    int64_t from, to;            /* [from, to) [ns] from the job's begin */
    const tm_serve_range *ranks; /* [n_ranks]; of none: all */
    size_t n_ranks;
    bool host;         /* operators of the host's threads; else the GPUs' kernels and copies */
    int64_t at;        /* place of the rank to begin with */
    int64_t budget_ns; /* it ends behind the first rank after so much time */
} tm_area_wish;

/** Of a rank the events of one name and kind of which a part lies in the time: of these parts. */
typedef struct tm_area_sum {
    int64_t rank, count, sum_ns;
    int64_t self_ns; /* without operators inside of it on its thread; else sum_ns */
    int64_t longest_ns;
    uint32_t name;
    uint8_t kind; /* as in tm_serve_event */
} tm_area_sum;

/**
 * @param sums  empty, of tm_area_sum: appended to, rank after rank, each in the order of its events
 * @param next  place of the rank to go on with; behind the last where all were seen
 * @param seen  how many of the wanted ranks these are
 * @return      TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_serve_area(tm_serve_reader *reader, const tm_area_wish *wish, tm_vec *sums,
                        int64_t *next, int64_t *seen, tm_error *err) TM_MUST_CHECK;

#endif
