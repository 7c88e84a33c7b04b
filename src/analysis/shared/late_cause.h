/* Finds why a rank is late: from its kernels, its idle time and what its host does. Verdict and
 * advice both use it, so they agree. */
#ifndef TMERGE_LATE_CAUSE_H
#define TMERGE_LATE_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "tmerge/table.h"

/** Minimum relative speed of a rank whose kernels do not explain its lateness. */
#define TM_LATE_NORMAL_SPEED 0.97

typedef enum tm_late_kind {
    TM_LATE_UNKNOWN, /* neither GPU nor host explains the lateness */
    TM_LATE_GPU,     /* the rank computes longer than the others, and does not idle far longer */
    TM_LATE_WORK,    /* like TM_LATE_GPU, but its kernels are as fast as the same kernels on other
                        ranks */
    TM_LATE_EXTRA,   /* at least half of the lateness is work that the rank's peers do not run */
    TM_LATE_QUEUE,   /* like TM_LATE_HOST, but most of the excess is queued_ns of idle.rank: queued
                        kernels waited for something that was not recorded */
    TM_LATE_HOST /* the rank's GPU idles more than twice the median; or it idles longest of all, and
                    the excess over the median is most of the lateness. The excess costs more than
                    slower kernels, and less than half of it is other_ns of idle.rank, which hosts
                    do not cause */
} tm_late_kind;

typedef struct tm_late_cause {
    tm_late_kind kind;
    int64_t peer; /* the rank that the late rank is compared with; -1: several */
    /* compute time of the peer (of several, the median) / compute time of the rank; negative if
     * unknown */
    double speed;
    bool same_kernels; /* for TM_LATE_GPU: nearly all kernels are slower than the same kernels on
                          other ranks, so more work does not explain it */
    /* idle time of the rank, and median idle time of the other ranks */
    int64_t idle_ns, median_idle_ns;
    const char *call; /* for TM_LATE_HOST: the host's call that has most of the time of the rank's
                         longest gaps; NULL if these gaps are no stalls, or no call has most of
                         their time; borrowed */
    int64_t call_ns, gaps_ns; /* time in `call`, and sum of the durations of these gaps */
    struct { /* for TM_LATE_EXTRA: sums of stragglers.extra over the steps of the window */
        /* number of steps with extra work; number of recorded steps of the rank */
        int64_t steps, of_steps;
        int64_t kernels, ns, host_ns;
        const char *name; /* name with the most extra time in any step; NULL: none; borrowed */
    } extra;
} tm_late_cause;

/** In which steps or operations a rank is late: from a row of stragglers.finding. */
typedef struct tm_late_window {
    int64_t rank, late_ns; /* excess_ns; 0: unknown */
    bool throughout;
    bool steps;       /* whether from and to are steps; false: numbers of operations */
    int64_t from, to; /* not set if `throughout` */
    const char *work; /* kind of work that takes longer, according to the replay; "" if unknown */
} tm_late_window;

/** Finds why a rank is late. If it is late throughout, reads stragglers.rank, whose speeds must be
 * set, and overlap.rank. If it is late in some steps, reads only these steps of overlap.step,
 * because other steps would hide the cause. Prefers the speed in kernels.same, if known. If it is
 * late in some operations, only `work` counts, because no table has its times in these operations.
 */
tm_late_cause tm_late_cause_of(const tm_tables *tables, const tm_late_window *window);

/** Returns whether input makes a rank late: in steps [from, to], its GPU idles for at least 5 % of
 * the time because of waits for a batch (input.step), and the excess of this time over the median
 * of the other ranks is at least half of the excess of its idle time in @p c. */
bool tm_late_for_input(const tm_tables *tables, const tm_late_cause *c, int64_t rank, int64_t from,
                       int64_t to);

#endif
