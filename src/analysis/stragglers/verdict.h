/* Wait and caused wait of ranks, and the words of verdicts. */
#ifndef TMERGE_VERDICT_H
#define TMERGE_VERDICT_H

#include "waits/blame.h"

/** How long one rank waited, and what waits it caused, in one step or in total. */
typedef struct tm_blame {
    int64_t rank, step;  /* step -1: outside of all steps */
    int64_t collectives; /* operations with a known wait */
    int64_t last, tied;  /* number of times that this rank came last, and that it was one of several
                            that came last */
    int64_t untied;      /* operations in which exactly one rank came last */
    int64_t wait_ns, lateness_ns;
    int64_t doubt_ns; /* how much `caused` would change if the rank's clock were off by the joint
                         uncertainty */
    tm_share caused;
    int64_t passed_ns;         /* part of `caused` that is due to other ranks, which had kept this
                                  rank waiting */
    int64_t indirect_ns;       /* waits that it caused through other ranks, which waited for it */
    double expected, variance; /* sums of 1/n and (1/n)(1 - 1/n) over its untied operations, which
                                  have n ranks */
} tm_blame;

typedef enum tm_verdict_kind {
    TM_VERDICT_NONE,
    TM_VERDICT_INCONCLUSIVE,
    TM_VERDICT_PERSISTENT,
    TM_VERDICT_SEVERAL,
    TM_VERDICT_EPISODE,
    TM_VERDICT_ALTERNATING,
    TM_VERDICT_EVENT,
    TM_VERDICT_BUBBLE
} tm_verdict_kind;

/** "none", "inconclusive", "persistent", "several", "episode", "alternating", "event" or "bubble".
 */
const char *tm_verdict_word(tm_verdict_kind kind);

/** Returns the part of the waits caused by a rank for which no other rank is to blame: caused -
 * passed. */
tm_share tm_blame_direct(const tm_blame *blame);

/** Returns a rank's total cost: direct + indirect. */
tm_share tm_blame_cost(const tm_blame *blame);

/** The leader of one step: the rank with the largest cost, the lowest in a tie. */
typedef struct tm_leader {
    int64_t step, rank, caused_ns, direct_ns, indirect_ns, lateness_ns;
} tm_leader;

/** What is late: single ranks, a host, or a process group. */
typedef enum tm_culprit { TM_CULPRIT_RANK, TM_CULPRIT_HOST, TM_CULPRIT_GROUP } tm_culprit;

/** "rank", "host" or "group". */
const char *tm_culprit_word(tm_culprit level);

/** Adds a tm_blame to @p sum, of the same rank, whose step does not change. */
void tm_blame_add(tm_blame *sum, const tm_blame *blame);

/**
 * Finds the leader of every step with waits.
 * @param blames    [n] sorted by step, then by rank; those outside of steps are skipped
 * @param leaders  has room for one for each step
 * @return         number of leaders
 */
size_t tm_verdict_leaders(const tm_blame *blames, size_t n, tm_leader *leaders);

#endif
