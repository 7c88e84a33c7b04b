/* Turns matched operations into input of the clock fit: the differences of their kernels' ends. */
#ifndef TMERGE_CLOCK_DIFFERENCES_H
#define TMERGE_CLOCK_DIFFERENCES_H

#include "clock/exact.h"
#include "clock/fit.h"
#include "timeline/collectives.h"

/** A rank, with its host and its clock domain. */
typedef struct tm_clock_slot {
    int64_t rank;
    int32_t host;   /* from 0 */
    int32_t domain; /* from 0 */
} tm_clock_slot;

/** Hosts and domains of the job's ranks, ascending by rank. Borrowed. */
typedef struct tm_clock_slots {
    const tm_clock_slot *slots;
    size_t n;
} tm_clock_slots;

/** Number of classes of kernels. The kernels of a class have about equally noisy ends. There are 6
 * groups of kinds, and 16 ranges of durations. The duration is that of the operation's shortest
 * kernel, which is about the time of the transfer. */
enum { TM_CLOCK_CLASSES = 6 * 16 };

/** Returns the entry of a rank; the rank must exist. */
const tm_clock_slot *tm_clock_slot_of(const tm_clock_slots *slots, int64_t rank);

/**
 * Makes rows of the fit from all operations in which at least two domains took part. Rows have the
 * role TM_CLOCK_FULL for synchronising operations and for large transfers, whose sender cannot
 * leave before the receiver has arrived. In other transfers the sender has TM_CLOCK_GIVES and the
 * receiver TM_CLOCK_TAKES. Leaves out suspect operations, and kernels whose clock is known to be
 * wrong.
 * @param collectives  matched, on recorded clocks
 * @param out          vector of tm_clock_end; `event` is the index of the instance
 * @return             TM_OK; TM_ERR_FAULT
 */
tm_status tm_clock_rows(const tm_collectives *collectives, const tm_clock_slots *slots, tm_vec *out,
                        tm_error *err) TM_MUST_CHECK;

/** How much later a kernel of an operation ended than the median of the ends with which it is
 * compared. Sent as bytes. */
typedef struct tm_clock_difference {
    int64_t rank;
    int64_t end_ns;
    int64_t late_ns; /* end_ns minus the median end */
    int64_t broken;  /* 1 if another of these kernels starts after this end; else 0 */
} tm_clock_difference;

typedef struct tm_clock_compared {
    /* true: compare an end only with the ends on the same host; false: with all ends of the
     * operation */
    bool by_host;
    const bool *classes; /* [TM_CLOCK_CLASSES] classes to use; NULL: all */
} tm_clock_compared;

/**
 * Compares the ends of each synchronising operation that has at least two usable ends.
 * @param out     vector of tm_clock_difference; or NULL
 * @param counts  [TM_CLOCK_CLASSES * TM_SPREAD_BINS] histogram of the differences' magnitudes for
 *                each class, incremented; or NULL
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_clock_compare(const tm_collectives *collectives, const tm_clock_slots *slots,
                           const tm_clock_compared *compared, tm_vec *out, int64_t *counts,
                           tm_error *err) TM_MUST_CHECK;

/**
 * Selects the classes that are at most twice as noisy as the quietest class that has at least 64
 * ends. If no class has 64 ends, the class with the most ends is used instead of the quietest.
 * @param classes  [TM_CLOCK_CLASSES] set to whether each class is selected. If no end was compared,
 *                 all classes are selected.
 */
void tm_clock_quiet(const int64_t *counts, bool *classes);

/** Summary of a rank's differences. */
typedef struct tm_clock_late {
    int64_t rank, n;
    double early_ns, late_ns; /* medians over the first and over the second half of the rank's
                                 ends */
    double all_ns;            /* median over all ends */
    double spread_ns;         /* robust standard deviation around all_ns */
    int64_t n_broken;         /* sum of `broken` */
} tm_clock_late;

/**
 * Summarises the differences of each rank.
 * @param differences  [n] all differences of these ranks, in any order; the call sorts them
 * @param out          vector of tm_clock_late, ascending in rank
 * @return             TM_OK; TM_ERR_FAULT
 */
tm_status tm_clock_summarise(tm_clock_difference *differences, size_t n, tm_vec *out,
                             tm_error *err) TM_MUST_CHECK;

#endif
