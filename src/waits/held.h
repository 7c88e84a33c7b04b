/* Delay propagation, from the ranks' side: when a rank was kept from computing, and by which
 * operation. See delay.h. */
#ifndef TMERGE_HELD_H
#define TMERGE_HELD_H

#include "delay.h"

/** The waits of the ranks that one process holds. Opened with tm_held_open, closed with
 * tm_held_free.
 */
typedef struct tm_held {
    tm_vec kernels; /* of ranks and the events with visits: by rank, then event */
    tm_vec waits;   /* by rank, then when they ended */
} tm_held;

tm_held tm_held_open(void);
void tm_held_free(tm_held *held);

/**
 * Adds a rank: sets `released` of its visits, and finds how long each of its waits kept it from
 * computing. Ranks are added in ascending order.
 *
 * @param visits  [n] of this rank, sorted by tm_held_sort
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_held_add(tm_held *held, const tm_timeline *timeline, tm_visit *visits, size_t n,
                      tm_error *err) TM_MUST_CHECK;

/** Sorts visits by rank, then event. */
void tm_held_sort(tm_vec *visits);

/**
 * Sets all_ns and other_ns of all visits: the waits that ended after the last operation that
 * brought the visit's group together had ended, and before the visit's kernel began.
 *
 * @param visits  those that were added, sorted by tm_held_sort, with `together` set
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_held_since(tm_held *held, tm_visit *visits, tm_error *err) TM_MUST_CHECK;

/**
 * Splits debts over the waits in other groups that made the rank late, in proportion to their
 * lengths, so that nothing is lost to rounding.
 *
 * @param debts   of tm_debt, at most one for each event and step; emptied
 * @param claims  of tm_claim; added to
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_held_pass(const tm_held *held, tm_vec *debts, tm_vec *claims,
                       tm_error *err) TM_MUST_CHECK;

/** Adds every group with waits and each rank of it that is held here, as tm_group_member. */
tm_status tm_held_members(const tm_held *held, tm_vec *members, tm_error *err) TM_MUST_CHECK;

#endif
