/* Derives which operation of a training step follows which. */
#ifndef TMERGE_REPLAY_OPS_ORDER_H
#define TMERGE_REPLAY_OPS_ORDER_H

#include "ops_events.h"

/**
 * Finds which operations each operation follows. Sets the ids of operations that join ranks. Sorts
 * the operations, so that each operation comes after those that it follows.
 *
 * Consecutive steps can have the same shape. The times of the first of these steps then show, for
 * all of them, which transfers took place and in which order passes ran.
 * @param input  its parts must be sorted by (step, type, begin)
 * @return       false when out of memory
 */
bool tm_ops_order(tm_ops_input *input) TM_MUST_CHECK;

#endif
