/* Quantities of a rank over time, as means over equal parts of the rank's window. */
#ifndef TMERGE_OVER_TIME_H
#define TMERGE_OVER_TIME_H

#include "tmerge/analysis.h"

enum { TM_PARTS = 64, TM_PARTS_RANKS = 64 };

/* A quantity over the window of a rank, in TM_PARTS equal parts. Sums are integers, so they do not
 * depend on the order in which events are added. */
typedef struct tm_over_time {
    int64_t begin_ns, end_ns;
    int64_t
        /* start of each part and end of the last part, relative to begin_ns */
        edge_ns[TM_PARTS + 1];
    int64_t part[TM_PARTS]; /* in each part: time of the items that start or end in it [ns]; for
                               tm_over_time_spread: the amount */
    int64_t whole[TM_PARTS + 1]; /* number of items that fill the part, minus the number of items
                                    that fill the previous part */
} tm_over_time;

/** Returns empty parts of the rank's window, which lasts from the first start to the last end of
 * its GPU events. */
tm_over_time tm_over_time_make(const tm_timeline *timeline);

/** Adds an item that is present during [from_ns, to_ns). */
void tm_over_time_add(tm_over_time *t, int64_t from_ns, int64_t to_ns);

/** Returns the mean number of items present in a part; 0 if the rank has no GPU events. */
double tm_over_time_mean(const tm_over_time *t, int part);

/** Spreads an amount evenly over [from_ns, to_ns): each part gets its share. */
void tm_over_time_spread(tm_over_time *t, int64_t from_ns, int64_t to_ns, int64_t amount);

/** Returns the duration of a part [ns]. */
int64_t tm_over_time_width(const tm_over_time *t, int part);

/** Returns the start of a part on the job's clock [ns since the epoch]. */
int64_t tm_over_time_begin(const tm_over_time *t, const tm_timeline *timeline, int part);

/** Keeps only the rows of TM_PARTS_RANKS ranks: the ranks with the largest values in a column of @p
 * ranks, which is sorted by rank. If values are equal, lower ranks stay. Returns TM_OK or
 * TM_ERR_FAULT. */
tm_status tm_over_time_keep(tm_table *rows, const tm_table *ranks, int column,
                            tm_error *err) TM_MUST_CHECK;

#endif
