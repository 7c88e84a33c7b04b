/* Finds why a rank is late, from its kernels, its idle time and what its host does. The verdict and
 * the advice both use this function, so that they agree. */
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
    /* Like TM_LATE_HOST, but most of the excess is queued_ns of idle.rank. Queued kernels waited
     * for something that was not recorded. */
    TM_LATE_QUEUE,
    /* The rank's GPU idles more than twice as long as the median. Or it idles longest of all, and
     * the excess over the median is most of the lateness. In both cases, the excess costs more than
     * slower kernels. Less than half of the excess is other_ns of idle.rank, because hosts do not
     * cause other_ns. */
    TM_LATE_HOST
} tm_late_kind;

typedef struct tm_late_cause {
    tm_late_kind kind;
    int64_t peer; /* the rank with which the late rank is compared; -1 if there are several */
    /* Compute time of the peer / compute time of the rank; negative if unknown. If there are
     * several peers, their median compute time is used. */
    double speed;
    /* Only for TM_LATE_GPU: nearly all kernels are slower than the same kernels on other ranks. So
     * the rank is not late because it has more work. */
    bool same_kernels;
    /* idle time of the rank, and median idle time of the other ranks */
    int64_t idle_ns, median_idle_ns;
    /* Only for TM_LATE_HOST: the call of the host that has most of the time of the rank's longest
     * gaps. NULL if these gaps are no stalls, or if no call has most of their time. Borrowed. */
    const char *call;
    /* time in `call`, and sum of the durations of the rank's longest gaps */
    int64_t call_ns, gaps_ns;
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

/** Finds why a rank is late. If the rank is late throughout, reads overlap.rank and
 * stragglers.rank. The speeds in stragglers.rank must be set. If the rank is late in some steps,
 * reads only these steps of overlap.step, because other steps would hide the cause. If kernels.same
 * has the rank's speed, prefers this speed. If the rank is late in some operations, uses only
 * `work`, because no table has the times in these operations. */
tm_late_cause tm_late_cause_of(const tm_tables *tables, const tm_late_window *window);

/** Returns whether input makes a rank late in steps [from, to]. Two conditions must hold. First,
 * the rank's GPU idles for at least 5 % of the time because of waits for a batch (input.step).
 * Second, these waits exceed the median of the other ranks, and this excess is at least half of the
 * excess of the rank's idle time in @p c. */
bool tm_late_for_input(const tm_tables *tables, const tm_late_cause *c, int64_t rank, int64_t from,
                       int64_t to);

#endif
