/* Delay propagation (delay.h), the part for ranks: finds when an operation kept a rank from
 * computing. */
#ifndef TMERGE_RANK_WAITS_H
#define TMERGE_RANK_WAITS_H

#include "delay.h"

/** The waits of the ranks that one process holds. */
typedef struct tm_rank_waits {
    tm_vec kernels; /* vector of struct kernel, ordered by rank, then by event */
    tm_vec waits;   /* vector of struct wait, ordered by rank, then by the wait's end */
} tm_rank_waits;

tm_rank_waits tm_rank_waits_open(void);
void tm_rank_waits_free(tm_rank_waits *held);

/**
 * Adds a rank. Sets `released` of the rank's participations. Finds how long each wait kept the rank
 * from computing. Ranks must be added in ascending order.
 * @param participants  [n] participations of this rank, sorted by tm_rank_waits_sort
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_rank_waits_add(tm_rank_waits *held, const tm_timeline *timeline,
                            tm_participant *participants, size_t n, tm_error *err) TM_MUST_CHECK;

/** Sorts participations by rank, then event. */
void tm_rank_waits_sort(tm_vec *participants);

/**
 * Sets own_ns, all_ns and other_ns of the participations. all_ns and other_ns are sums of waits
 * that ended between two times: the end of the last operation after which the group was together,
 * and the kernel's start.
 *
 * @param participants  participations of all added ranks, sorted by tm_rank_waits_sort. `together`,
 *                `arrival` and `meets` must be set
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_rank_waits_since(tm_rank_waits *held, tm_participant *participants,
                              tm_error *err) TM_MUST_CHECK;

/**
 * Splits each cost over the waits in other groups that made the rank late, in proportion to their
 * lengths. The shares add up exactly.
 * @param pending_costs  vector of tm_pending_cost, at most one for each event and step; emptied
 * @param cost_shares    vector of tm_cost_share: the shares are appended
 * @return               TM_OK; TM_ERR_FAULT
 */
tm_status tm_rank_waits_pass(const tm_rank_waits *held, tm_vec *pending_costs, tm_vec *cost_shares,
                             tm_error *err) TM_MUST_CHECK;

/** Returns the total time [ns] in which waits in collectives and for transfers kept the ranks from
 * computing. */
int64_t tm_rank_waits_kept(const tm_rank_waits *held);

/** Appends a tm_group_member for each rank that this process holds, and for each group of the rank
 * in which waits are known. */
tm_status tm_rank_waits_members(const tm_rank_waits *held, tm_vec *members,
                                tm_error *err) TM_MUST_CHECK;

#endif
