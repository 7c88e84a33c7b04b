/* Between matched operations and the clock fit: what the ends of their kernels say. */
#ifndef TMERGE_CLOCK_DIFFERENCES_H
#define TMERGE_CLOCK_DIFFERENCES_H

#include "clock/exact.h"
#include "clock/fit.h"
#include "timeline/collectives.h"

/** Where a rank belongs in the fit. */
typedef struct tm_clock_seat {
    int64_t rank;
    int32_t host;   /* from 0 */
    int32_t domain; /* from 0 */
} tm_clock_seat;

/** Seats of the job's ranks, ascending in rank. Borrowed. */
typedef struct tm_clock_seats {
    const tm_clock_seat *seats;
    size_t n;
} tm_clock_seats;

/** What two kernels have in common whose ends are equally noisy: their kind (folded to six) and the
 * log2 of the shortest kernel of the operation, which is about its transfer. */
enum { TM_CLOCK_CLASSES = 6 * 16 };

/** The rank's seat; every rank of a record must have one. */
const tm_clock_seat *tm_clock_seat_of(const tm_clock_seats *seats, int64_t rank);

/**
 * Makes rows of the fit of all operations that two domains or more took part in and that bind their
 * clocks: full ones of what synchronises and of large transfers, whose sender cannot leave before
 * the receiver has come; of other transfers the sender gives and the receiver takes. Operations
 * that contradict themselves, and kernels on a wrong clock, are left out.
 *
 * @param collectives  matched, on recorded clocks
 * @param out          of tm_clock_end; `event` is the index of the instance
 * @return             TM_OK; TM_ERR_FAULT
 */
tm_status tm_clock_rows(const tm_collectives *collectives, const tm_clock_seats *seats, tm_vec *out,
                        tm_error *err) TM_MUST_CHECK;

/** How far a rank's end lay from those that it is compared with. Sent as bytes. */
typedef struct tm_clock_difference {
    int64_t rank;
    int64_t end_ns;
    int64_t late_ns; /* end minus the median end */
} tm_clock_difference;

typedef struct tm_clock_compared {
    bool by_host;        /* with the ranks of its host, else with all of the operation */
    const bool *classes; /* [TM_CLOCK_CLASSES] those that count; NULL: all */
} tm_clock_compared;

/**
 * Compares the ends of what synchronises, where there are two or more to compare.
 * @param out     of tm_clock_difference; or NULL
 * @param counts  [TM_CLOCK_CLASSES * TM_SPREAD_BINS] their sizes are added by class; or NULL
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_clock_compare(const tm_collectives *collectives, const tm_clock_seats *seats,
                           const tm_clock_compared *compared, tm_vec *out, int64_t *counts,
                           tm_error *err) TM_MUST_CHECK;

/**
 * Chooses the classes with the steadiest ends: those at most twice as noisy as the least noisy of
 * at least 64 ends.
 * @param classes  [TM_CLOCK_CLASSES] set; all of them where no end was compared
 */
void tm_clock_quiet(const int64_t *counts, bool *classes);

/** A rank's differences summed up. */
typedef struct tm_clock_late {
    int64_t rank, n;
    double early_ns, late_ns; /* medians over the first half of its ends, and over the second */
    double all_ns;            /* over all */
    double spread_ns;         /* robust standard deviation around that */
} tm_clock_late;

/**
 * Sums up the differences of each rank.
 * @param differences  [n] of whole ranks, in any order; sorted
 * @param out          of tm_clock_late, ascending in rank
 * @return             TM_OK; TM_ERR_FAULT
 */
tm_status tm_clock_summarise(tm_clock_difference *differences, size_t n, tm_vec *out,
                             tm_error *err) TM_MUST_CHECK;

#endif
