/* What a rank has at each moment, as means over equal parts of its window. */
#ifndef TMERGE_OVER_TIME_H
#define TMERGE_OVER_TIME_H

#include "tmerge/analysis.h"

enum { TM_PARTS = 64, TM_PARTS_RANKS = 64 };

/* Whole numbers, so that sums do not depend on the order of events. */
typedef struct tm_over_time {
    int64_t begin_ns, end_ns;
    int64_t edge_ns[TM_PARTS + 1]; /* begin of each part, and the end, from begin_ns on */
    int64_t part[TM_PARTS];        /* of each: time or amount */
    int64_t whole[TM_PARTS + 1];   /* changes of how many there are in whole parts */
} tm_over_time;

/** Parts of the time from the first begin to the last end of a rank's GPU events. */
tm_over_time tm_over_time_make(const tm_timeline *timeline);

/** There is one more from one time to another. */
void tm_over_time_add(tm_over_time *t, int64_t from_ns, int64_t to_ns);

/** How many there are in a part, in the mean; 0 where the rank has no GPU events. */
double tm_over_time_mean(const tm_over_time *t, int part);

/** Spreads an amount evenly from one time to another: part[] has what comes to each. */
void tm_over_time_spread(tm_over_time *t, int64_t from_ns, int64_t to_ns, int64_t amount);

/** Its length [ns]. */
int64_t tm_over_time_width(const tm_over_time *t, int part);

/** Begin of a part, on the job's clock since the epoch. */
int64_t tm_over_time_begin(const tm_over_time *t, const tm_timeline *timeline, int part);

/** Of rows by rank keeps those of TM_PARTS_RANKS ranks, of which another table, with a row for each
 * rank, has the most in a column, the lowest of equals. TM_OK; TM_ERR_FAULT. */
tm_status tm_over_time_keep(tm_table *rows, const tm_table *ranks, int column,
                            tm_error *err) TM_MUST_CHECK;

#endif
