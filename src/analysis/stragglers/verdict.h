/* From every rank's waits to one sentence: who holds the job up, and whether it lasts. */
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
    TM_VERDICT_ROTATING
} tm_verdict_kind;

/** "none", "inconclusive", "persistent" or "rotating". */
const char *tm_verdict_word(tm_verdict_kind kind);

/** What the rank itself made others wait in the operation where it was late: caused - passed. */
tm_share tm_toll_direct(const tm_toll *toll);

/** Its cost, which verdicts are about: direct + indirect. */
tm_share tm_toll_cost(const tm_toll *toll);

/** The leader of one step: the rank with the largest cost, the lowest of equals. */
typedef struct tm_leader {
    int64_t step, rank, caused_ns, direct_ns, indirect_ns, lateness_ns;
} tm_leader;

/** What a verdict is about, as far as the cost is concentrated. */
typedef enum tm_culprit { TM_CULPRIT_RANK, TM_CULPRIT_HOST, TM_CULPRIT_GROUP } tm_culprit;

/** "rank", "host" or "group". */
const char *tm_culprit_word(tm_culprit level);

typedef struct tm_verdict {
    tm_verdict_kind kind;
    tm_culprit level;   /* set by tm_culprit_decide; TM_CULPRIT_RANK before */
    int64_t rank;       /* the persistent one, else the one of most cost; -1: nobody waited */
    int64_t steps, led; /* steps with waits; of them, led by that rank */
    int64_t most_led;   /* steps led by whoever led most */
    int64_t wait_ns;    /* of all ranks */
    bool unsure;        /* its cost is no more than what clocks may be wrong by */
    double z;           /* of that rank's last arrivals against chance */
    tm_toll toll;       /* of that rank */
} tm_verdict;

/** Adds one toll to another of the same rank; the step stays. */
void tm_toll_add(tm_toll *sum, const tm_toll *toll);

/**
 * Finds the leader of every step with waits.
 * @param tolls    [n] by step: ascending in step, then rank; those outside of steps are passed over
 * @param leaders  [n] at least as many as there are steps
 * @return         how many there are
 */
size_t tm_verdict_leaders(const tm_toll *tolls, size_t n, tm_leader *leaders);

/**
 * Decides: none where all waits are under 1 % of all windows; inconclusive where
 * the cost of the one to name is within what clocks may be wrong by, and with fewer than 3 steps
 * with waits; persistent where one rank leads at least half of the steps and comes
 * last more often than chance (z > 3), with an even share of all cost and 15 % of the rest at
 * least, be it that another's single hiccup cost more; rotating where no rank leads half of them;
 * else inconclusive. A rank whose cost is indirect for the most part need not come last itself: of
 * it the steps that it leads are held against chance.
 *
 * @param ranks      [n_ranks] each rank's sum, ascending in rank
 * @param window_ns  sum of all ranks' windows
 */
tm_verdict tm_verdict_decide(const tm_toll *ranks, size_t n_ranks, const tm_leader *leaders,
                             size_t n_leaders, int64_t window_ns);

#endif
