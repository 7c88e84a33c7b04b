/* Finds why a rank is late from its kernels, its idle time and its host's activity. The verdict and
 * the advice both use it, so that they agree. */
#ifndef TMERGE_LATE_CAUSE_H
#define TMERGE_LATE_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "tmerge/table.h"

/** Relative speed from which a rank's kernels do not explain its lateness. */
#define TM_LATE_NORMAL_SPEED 0.97

typedef enum tm_late_kind {
    TM_LATE_UNKNOWN, /* neither GPU nor host explains it */
    TM_LATE_GPU,     /* the rank computes longer than the others and does not idle far longer */
    TM_LATE_WORK,    /* as TM_LATE_GPU, but identical kernels are as fast as elsewhere */
    TM_LATE_EXTRA,   /* at least half of its lateness is work that its peers do not run */
    TM_LATE_QUEUE,   /* the rank's GPU idles as for TM_LATE_HOST, mostly in queued_ns of idle.rank:
                        launched kernels waited for something unrecorded */
    TM_LATE_HOST /* its GPU idles more than twice the median, or longer than any other by most of
                    its lateness, and this outweighs slower kernels; less than half of it is
                    other_ns of idle.rank, which no host causes */
} tm_late_kind;

typedef struct tm_late_cause {
    tm_late_kind kind;
    int64_t peer;      /* the only rank that it is compared with; -1 if there are several */
    double speed;      /* median compute time (or that of peer) / its own; negative if unknown */
    bool same_kernels; /* for TM_LATE_GPU: whether nearly all kernels are slower than the same
                          kernels on other ranks, so that more work is not the cause */
    int64_t idle_ns, median_idle_ns; /* idle time of the rank, and the median of the other ranks */
    const char *call; /* for TM_LATE_HOST: the host call that fills most of the longest gaps, if
                         these are stalls; NULL if no single call; borrowed */
    int64_t call_ns, gaps_ns; /* time in that call, and total length of these gaps */
    struct { /* for TM_LATE_EXTRA, over the steps in question, as in stragglers.extra */
        int64_t steps, of_steps; /* steps with extra work, and steps recorded of the rank */
        int64_t kernels, ns, host_ns;
        const char *name; /* the name with most time in any one step; NULL for none; borrowed */
    } extra;
} tm_late_cause;

/** The window in which a rank is late: a row of stragglers.finding. */
typedef struct tm_late_window {
    int64_t rank, late_ns; /* excess_ns; 0: unknown */
    bool throughout;
    bool steps;       /* false: from and to are numbers of operations */
    int64_t from, to; /* not used if throughout */
    const char *work; /* that was found to take longer; "" if no replay says */
} tm_late_window;

/** Finds the cause for a rank that is late. Throughout, reads stragglers.rank with its speeds and
 * overlap.rank; if kernels.same compares the rank's kernels with the same ones of other ranks, the
 * speed is taken from it. In steps, reads only these steps of overlap.step, since the others would
 * hide it. No table says what the rank did in a window of operations: only `work` counts there. */
tm_late_cause tm_late_cause_of(const tm_tables *tables, const tm_late_window *window);

/** Returns whether a rank is late because of its input: in steps [from, to] its GPU idled for at
 * least 5 % of the time while waiting for a batch (input.step), and the excess over the others'
 * median is at least half of its excess idle time in @p c. */
bool tm_late_for_input(const tm_tables *tables, const tm_late_cause *c, int64_t rank, int64_t from,
                       int64_t to);

#endif
