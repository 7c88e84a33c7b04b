/* Finds why a rank is late from its kernels, its idle time and its host's activity. The verdict and
 * the advice both use it, so that they agree. */
#ifndef TMERGE_LATE_CAUSE_H
#define TMERGE_LATE_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "tmerge/table.h"

/** Minimum relative speed at which a rank's kernels do not explain its lateness. */
#define TM_LATE_NORMAL_SPEED 0.97

typedef enum tm_late_kind {
    TM_LATE_UNKNOWN, /* neither GPU nor host explains it */
    TM_LATE_GPU,     /* the rank computes longer than the others, and is not idle far longer */
    TM_LATE_WORK,    /* as TM_LATE_GPU, but the same kernels are as fast as on other ranks */
    TM_LATE_EXTRA,   /* at least half of its lateness is work that its peers do not run */
    TM_LATE_QUEUE,   /* as TM_LATE_HOST, but the excess is mostly queued_ns of idle.rank: kernels in
                        the queue waited for something that was not recorded */
    TM_LATE_HOST     /* its GPU is idle for more than twice the median, or longer than all others by
                        most of its lateness, and this costs more than slower kernels. Less than
                        half of it is other_ns of idle.rank, which hosts do not cause */
} tm_late_kind;

typedef struct tm_late_cause {
    tm_late_kind kind;
    int64_t peer; /* the rank that it is compared with; -1 if there are several */
    /* compute time of the peer (median of several) / the rank's; negative if unknown */
    double speed;
    bool same_kernels; /* for TM_LATE_GPU: nearly all kernels are slower than the same kernels on
                          other ranks, so more work is not the cause */
    /* idle time of the rank, and the median idle time of the other ranks */
    int64_t idle_ns, median_idle_ns;
    const char *call; /* for TM_LATE_HOST: the host's call during most of the time of the longest
                         gaps; NULL if these are no stalls or no call has most of them; borrowed */
    int64_t call_ns, gaps_ns; /* time in that call, and total length of these gaps */
    struct { /* for TM_LATE_EXTRA: sums of stragglers.extra over the window's steps */
        int64_t steps, of_steps; /* steps with extra work, and steps recorded of the rank */
        int64_t kernels, ns, host_ns;
        const char *name; /* the name with the most time in a single step; NULL: none; borrowed */
    } extra;
} tm_late_cause;

/** When a rank is late, from a row of stragglers.finding. */
typedef struct tm_late_window {
    int64_t rank, late_ns; /* excess_ns; 0: unknown */
    bool throughout;
    bool steps;       /* false: from and to are numbers of operations */
    int64_t from, to; /* not used if throughout */
    const char *work; /* the kind of work that takes longer, by the replay; "" if unknown */
} tm_late_window;

/** Finds the cause for a rank that is late. If it is late throughout, reads stragglers.rank, whose
 * speeds must be set, and overlap.rank. If it is late in some steps, reads only these steps of
 * overlap.step, because other steps would hide the cause. Prefers the speed in kernels.same, if
 * known. For a window of operations, no table has the rank's times, so only `work` counts. */
tm_late_cause tm_late_cause_of(const tm_tables *tables, const tm_late_window *window);

/** Returns whether a rank is late because of its input. It is if, in steps [from, to], its GPU is
 * idle for at least 5 % of the time because of waits for a batch (input.step), and the excess of
 * this time over the median of the other ranks is at least half of the excess of its idle time in
 * @p c. */
bool tm_late_for_input(const tm_tables *tables, const tm_late_cause *c, int64_t rank, int64_t from,
                       int64_t to);

#endif
