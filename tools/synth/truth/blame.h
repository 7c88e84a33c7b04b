/* Who waited and who was waited for, in true time: the definitions of the tables by arithmetic of
 * its own. */
#ifndef TMERGE_SYNTH_BLAME_H
#define TMERGE_SYNTH_BLAME_H

#include <stdbool.h>
#include <stdint.h>

#include "synth/base/error.h"
#include "synth/sim/plan.h"

/* Parts of a nanosecond in which shares are kept. */
#define TMS_SHARE_UNIT INT64_C(100000000000000)

/* Nanoseconds that need not be whole: each addition errs by half a unit at most. */
typedef struct tms_share {
    int64_t whole_ns;
    int64_t rest; /* [1/TMS_SHARE_UNIT ns], below TMS_SHARE_UNIT */
} tms_share;

/* Adds numerator / denominator nanoseconds; both positive, the denominator below 2^16 + 1. */
void tms_share_add(tms_share *share, int64_t numerator, int64_t denominator);

/* Adds another share. */
void tms_share_sum(tms_share *share, tms_share other);

/* Below, at or above zero as a is less than, equal to or more than b. */
int tms_share_compare(tms_share a, tms_share b);

/* What complete synchronising collectives of at least two ranks say about one rank. */
typedef struct tms_rank_blame {
    int64_t collectives;
    int64_t last_arrivals; /* untied */
    int64_t tied;
    int64_t wait_ns;
    int64_t transfer_ns;
    tms_share caused;
    int64_t steps_led;
} tms_rank_blame;

typedef struct tms_step_blame {
    int64_t leader; /* rank with the largest caused wait; -1: nobody waited */
    tms_share caused;
    int64_t wait_ns; /* of all ranks */
} tms_step_blame;

typedef struct tms_blame {
    tms_rank_blame *ranks; /* [ranks], owned */
    tms_step_blame *steps; /* [steps], owned */
    int64_t wait_ns;       /* of all ranks and steps */
} tms_blame;

/**
 * Adds up a whole job.
 *
 * @param blame  set only on TMS_OK; free with tms_blame_free
 * @return       TMS_OK; TMS_ERR_FAULT out of memory
 */
tms_status tms_blame_build(tms_blame *blame, const tms_plan *plan, tms_error *err);

void tms_blame_free(tms_blame *blame);

/* What one collective is to one rank. */
typedef struct tms_split {
    int64_t wait_ns;     /* from its begin to the last rank's begin */
    int64_t transfer_ns; /* from there to its end */
} tms_split;

/**
 * Splits a kernel at the last rank's arrival.
 *
 * @param last_ns  begin of the last rank's kernel; all in [ns since the epoch]
 */
tms_split tms_blame_split(int64_t begin_ns, int64_t end_ns, int64_t last_ns);

/* The position of the member that came last: the lowest of equals. `begin_ns` is [n], n at least 1.
 */
int64_t tms_blame_last(const int64_t *begin_ns, int64_t n);

/* Whether an instance has wait and transfer by its kind and its number of ranks. */
bool tms_blame_counts(const tms_plan *plan, int64_t instance);

#endif
