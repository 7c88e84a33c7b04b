/* Waits, and the ranks that caused them, in true time. Implements the definitions of tmerge's
 * tables independently of tmerge. */
#ifndef TMERGE_SYNTH_TRUE_BLAME_H
#define TMERGE_SYNTH_TRUE_BLAME_H

#include <stdbool.h>
#include <stdint.h>

#include "synth/base/error.h"
#include "synth/sim/sim_plan.h"

/* Shares are stored in this fraction of a nanosecond. */
#define TMS_SHARE_UNIT INT64_C(100000000000000)

/* A fractional number of nanoseconds. Each addition has an error of at most half a unit of `rest`.
 */
typedef struct tms_share {
    int64_t whole_ns;
    int64_t rest; /* [1/TMS_SHARE_UNIT ns], below TMS_SHARE_UNIT */
} tms_share;

/* Adds numerator / denominator nanoseconds. Both are positive; the denominator is at most 2^16. */
void tms_share_add(tms_share *share, int64_t numerator, int64_t denominator);

void tms_share_sum(tms_share *share, tms_share other);

/* Returns a value below, at or above zero if a is less than, equal to or greater than b. */
int tms_share_compare(tms_share a, tms_share b);

/* Sums of one rank over those collectives that are complete, have waits, and have at least two
 * ranks. */
typedef struct tms_rank_blame {
    int64_t collectives;
    int64_t last_arrivals; /* number of collectives in which only this rank came last */
    int64_t tied;
    int64_t wait_ns;
    int64_t transfer_ns;
    tms_share caused;
    int64_t steps_led;
} tms_rank_blame;

typedef struct tms_step_blame {
    int64_t leader; /* rank that caused most wait in the step; -1: no rank waited */
    tms_share caused;
    int64_t wait_ns; /* sum over all ranks */
} tms_step_blame;

typedef struct tms_blame {
    tms_rank_blame *ranks; /* [ranks], owned */
    tms_step_blame *steps; /* [steps], owned */
    int64_t wait_ns;       /* sum over all ranks and steps */
} tms_blame;

/**
 * Sums up a whole job.
 *
 * @param blame  set only on TMS_OK; free with tms_blame_free
 * @return       TMS_OK; TMS_ERR_FAULT out of memory
 */
tms_status tms_blame_build(tms_blame *blame, const tms_plan *plan, tms_error *err);

void tms_blame_free(tms_blame *blame);

/* Two parts of a rank's time in a collective. */
typedef struct tms_split {
    int64_t wait_ns;     /* from the rank's start to the last rank's start */
    int64_t transfer_ns; /* from the last rank's start to the rank's end */
} tms_split;

/**
 * Splits a kernel at the last rank's arrival.
 *
 * @param last_ns  start of the last rank's kernel; all times in [ns since the epoch]
 */
tms_split tms_blame_split(int64_t begin_ns, int64_t end_ns, int64_t last_ns);

/* Returns the index of the member that arrived last; of several such members, the lowest index. @p
 * begin_ns has n >= 1 elements. */
int64_t tms_blame_last(const int64_t *begin_ns, int64_t n);

/* Returns whether the collective has waits: it synchronises, or it is a broadcast whose kernels
 * show that all members waited for the last one. */
bool tms_blame_waits(const tms_plan *plan, int64_t step, int64_t instance);

#endif
