/* Why a rank comes late, as far as its kernels, its idle time and what its host did meanwhile tell:
 * the sentence of the verdict and the advice say the same. */
#ifndef TMERGE_LATE_CAUSE_H
#define TMERGE_LATE_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "tmerge/table.h"

/** From this speed on a rank's kernels do not tell that it is late. */
#define TM_LATE_NORMAL_SPEED 0.97

typedef enum tm_late_kind {
    TM_LATE_UNKNOWN, /* neither accuses */
    TM_LATE_GPU,     /* it computes longer than the others, and does not idle far longer */
    TM_LATE_WORK,    /* likewise, while the same kernels take no longer than on other ranks */
    TM_LATE_EXTRA,   /* half of what it is late by, or more, is what it runs and its peers do not */
    TM_LATE_QUEUE,   /* its GPU idles as of TM_LATE_HOST, most of it queued_ns of idle.rank: kernels
                        had been launched and waited for what was not recorded */
    TM_LATE_HOST     /* its GPU idles more than twice as long, or longer than any other by most of
                        what it is late, and that outweighs its kernels; less than half of it is
                        other_ns of idle.rank, which is no host's */
} tm_late_kind;

typedef struct tm_late_cause {
    tm_late_kind kind;
    double speed;      /* median compute time / its own; negative where it is not known */
    bool same_kernels; /* of TM_LATE_GPU: nearly all kernels are slower than the same ones of other
                          ranks, so that it is not more work */
    int64_t idle_ns, median_idle_ns; /* its own, and of the others */
    const char *call; /* of TM_LATE_HOST: what the host was in for most of the longest gaps, where
                         these are stalls; NULL: no one call. Borrowed */
    int64_t call_ns, gaps_ns; /* how long, and all of these gaps */
    struct {                  /* of TM_LATE_EXTRA, over the steps meant: as in stragglers.extra */
        int64_t steps, of_steps; /* of the steps recorded of the rank those that have any */
        int64_t kernels, ns, host_ns;
        const char *name; /* of the step where one name has most, that; NULL for none. Borrowed */
    } extra;
} tm_late_cause;

/** Of a rank that is late throughout, by @p late_ns in all (0: that is not known). Needs
 * stragglers.rank with its speeds, and overlap.rank. If kernels.same has the rank's kernels
 * against the same ones of other ranks, their speed is taken from it. */
tm_late_cause tm_late_throughout(const tm_tables *tables, int64_t rank, int64_t late_ns);

/** Of a rank that is late in steps [from, to]: only these count, for the others would hide it.
 * Needs overlap.step. */
tm_late_cause tm_late_in_steps(const tm_tables *tables, int64_t rank, int64_t from, int64_t to,
                               int64_t late_ns);

/** Sets the kind by what was found to take longer, which was compared by itself: @p work as in
 * stragglers.finding, "" where no replay tells. Work of its own and what waits in a queue stay. */
void tm_late_by_work(tm_late_cause *cause, const char *work);

/** Whether it comes late for its batches: in steps [from, to] its GPU did nothing for at least 5 %
 * of them while it waited for one (input.step), and what that is beyond the others' median makes
 * up half of what its GPU idles longer, by c, at least. */
bool tm_late_for_input(const tm_tables *tables, const tm_late_cause *c, int64_t rank, int64_t from,
                       int64_t to);

#endif
