/* Finds why a rank is late, from its kernels, its idle time and its host's work. The verdict and
 * the advice both use this file, so that they agree. */
#ifndef TMERGE_LATE_CAUSE_H
#define TMERGE_LATE_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "tmerge/table.h"

/** From this relative speed on, slow kernels are not the reason why a rank is late. */
#define TM_LATE_NORMAL_SPEED 0.97

typedef enum tm_late_kind {
    TM_LATE_UNKNOWN, /* neither GPU nor host explains the lateness */
    TM_LATE_GPU,     /* the rank computes longer than the others, and does not idle far longer */
    TM_LATE_WORK,    /* like TM_LATE_GPU, but the rank's kernels are as fast as the same kernels on
                        other ranks */
    TM_LATE_EXTRA,   /* at least half of the lateness is work that the rank's peers do not run */
    /* like TM_LATE_HOST, but most of the excess is queued_ns of idle.rank: queued kernels waited
     * for something that was not recorded */
    TM_LATE_QUEUE,
    /* The rank's GPU idles more than twice as long as the median, or idles longest of all with an
     * excess over the median that is most of the lateness. In both cases, the excess costs more
     * than slower kernels, and less than half of it is other_ns of idle.rank, which hosts do not
     * cause. */
    TM_LATE_HOST
} tm_late_kind;

typedef struct tm_late_cause {
    tm_late_kind kind;
    int64_t peer; /* the rank with which the late rank is compared; -1 if there are several */
    /* compute time of the peer (the median of several peers) / that of the rank; negative if
     * unknown */
    double speed;
    /* only for TM_LATE_GPU: nearly all kernels are slower than the same kernels on other ranks, so
     * more work is not the reason */
    bool same_kernels;
    /* idle time of the rank, and median idle time of the other ranks */
    int64_t idle_ns, median_idle_ns;
    /* Only for TM_LATE_HOST: the host's call with most of the time of the rank's longest gaps. NULL
     * if these gaps are no stalls, or if no call has most of their time. Borrowed. */
    const char *call;
    /* time in `call`, and total duration of the rank's longest gaps */
    int64_t call_ns, gaps_ns;
    struct { /* for TM_LATE_EXTRA: sums of stragglers.extra over the steps of the window */
        /* number of steps with extra work, and number of recorded steps of the rank */
        int64_t steps, of_steps;
        int64_t kernels, ns, host_ns;
        const char *name; /* name with the most extra time in any step; NULL: none; borrowed */
    } extra;
} tm_late_cause;

/** The steps or operations in which a rank is late, from a row of stragglers.finding. */
typedef struct tm_late_window {
    int64_t rank;
    int64_t late_ns; /* excess_ns of the finding; 0: unknown */
    bool throughout;
    bool steps;       /* true: from and to are steps; false: they are numbers of operations */
    int64_t from, to; /* not set if `throughout` */
    const char *work; /* kind of work that takes longer, according to the replay; "" if unknown */
} tm_late_window;

/** Finds why a rank is late. If it is late throughout, reads overlap.rank and stragglers.rank,
 * whose speeds must be set. If it is late in some steps, reads only these steps of overlap.step,
 * because other steps would hide the cause. A speed in kernels.same takes precedence. If the rank
 * is late in some operations, uses only `work`, because no table has times in these operations. */
tm_late_cause tm_late_cause_of(const tm_tables *tables, const tm_late_window *window);

/** Returns whether input makes a rank late in steps [from, to]. Two conditions must hold. The
 * rank's GPU idles for at least 5 % of the time because of waits for a batch (input.step). And the
 * excess of these waits over the median of the other ranks is at least half of the rank's excess of
 * idle time in @p c. */
bool tm_late_for_input(const tm_tables *tables, const tm_late_cause *c, int64_t rank, int64_t from,
                       int64_t to);

#endif
