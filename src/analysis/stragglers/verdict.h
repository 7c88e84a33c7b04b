/* What ranks waited and caused, and the words of verdicts. */
#ifndef TMERGE_VERDICT_H
#define TMERGE_VERDICT_H

#include "waits/blame.h"

/** What one rank waited and caused, in one step or in all. */
typedef struct tm_toll {
    int64_t rank, step;  /* step -1: outside of every step */
    int64_t collectives; /* with wait */
    int64_t last, tied;  /* in how many it came last alone; last with another */
    int64_t untied;      /* in how many one rank came last alone */
    int64_t wait_ns, lateness_ns;
    int64_t doubt_ns; /* by how much `caused` would change, were its clock off by the joint
                         uncertainty */
    tm_share caused;
    int64_t passed_ns;         /* of what it caused, by having been kept waiting itself */
    int64_t indirect_ns;       /* what it caused through others that waited for it */
    double expected, variance; /* sums of 1/n and (1/n)(1 - 1/n) over its untied ones */
} tm_toll;

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

/** What the rank itself made others wait in the operation where it was late: caused - passed. */
tm_share tm_toll_direct(const tm_toll *toll);

/** Its cost: direct + indirect. */
tm_share tm_toll_cost(const tm_toll *toll);

/** The leader of one step: the rank with the largest cost, the lowest of equals. */
typedef struct tm_leader {
    int64_t step, rank, caused_ns, direct_ns, indirect_ns, lateness_ns;
} tm_leader;

/** What a verdict is about, as far as the cost is concentrated. */
typedef enum tm_culprit { TM_CULPRIT_RANK, TM_CULPRIT_HOST, TM_CULPRIT_GROUP } tm_culprit;

/** "rank", "host" or "group". */
const char *tm_culprit_word(tm_culprit level);

/** Adds one toll to another of the same rank; the step stays. */
void tm_toll_add(tm_toll *sum, const tm_toll *toll);

/**
 * Finds the leader of every step with waits.
 * @param tolls    [n] by step: ascending in step, then rank; those outside of steps are passed over
 * @param leaders  [n] at least as many as there are steps
 * @return         how many there are
 */
size_t tm_verdict_leaders(const tm_toll *tolls, size_t n, tm_leader *leaders);

#endif
