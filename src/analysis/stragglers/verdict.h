/* Waits of ranks and the waits that they caused, and the words of verdicts. */
#ifndef TMERGE_VERDICT_H
#define TMERGE_VERDICT_H

#include "waits/blame.h"

/** How long a rank waited, and which waits it caused, in a step or in total. */
typedef struct tm_blame {
    int64_t rank, step;  /* step -1: outside of steps */
    int64_t collectives; /* number of operations with a known wait */
    /* number of operations in which only this rank came last, and number of operations in which it
     * came last together with others */
    int64_t last, tied;
    int64_t untied; /* number of operations in which a single rank came last */
    int64_t wait_ns, lateness_ns;
    int64_t doubt_ns; /* change of `caused` if the rank's clock is off by the joint uncertainty */
    tm_share caused;
    int64_t passed_ns;   /* part of `caused` for which other ranks are to blame, because they kept
                            this rank waiting */
    int64_t indirect_ns; /* waits that the rank caused through other ranks, which waited for it */
    /* Sums over the rank's operations in which a single rank came last: of 1/n (`expected`) and of
     * (1/n)(1 - 1/n) (`variance`), where n is the number of ranks in the operation. */
    double expected, variance;
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

/** Returns "none", "inconclusive", "persistent", "several", "episode", "alternating", "event" or
 * "bubble". */
const char *tm_verdict_word(tm_verdict_kind kind);

/** Returns the part of a rank's caused waits for which no other rank is to blame: caused - passed.
 */
tm_share tm_blame_direct(const tm_blame *blame);

/** Returns a rank's total cost: direct + indirect. */
tm_share tm_blame_cost(const tm_blame *blame);

/** The leader of a step: the rank with the largest cost, or the lowest of them if several have
 * it. */
typedef struct tm_leader {
    int64_t step, rank, caused_ns, direct_ns, indirect_ns, lateness_ns;
} tm_leader;

/** What is late: single ranks, a host, or a process group. */
typedef enum tm_culprit { TM_CULPRIT_RANK, TM_CULPRIT_HOST, TM_CULPRIT_GROUP } tm_culprit;

/** Returns "rank", "host" or "group". */
const char *tm_culprit_word(tm_culprit level);

/** Adds a tm_blame of the same rank to @p sum, whose step does not change. */
void tm_blame_add(tm_blame *sum, const tm_blame *blame);

/**
 * Finds the leader of every step with waits.
 * @param blames   [n] sorted by step, then by rank; rows outside of steps are skipped
 * @param leaders  room for one per step
 * @return         number of leaders
 */
size_t tm_verdict_leaders(const tm_blame *blames, size_t n, tm_leader *leaders);

#endif
