/* Derives which operation of a training step follows which. */
#ifndef TMERGE_REPLAY_OPS_ORDER_H
#define TMERGE_REPLAY_OPS_ORDER_H

#include "ops_events.h"

/**
 * Finds which operations each operation follows, and the ids of operations that join ranks. Sorts
 * operations so that each comes after those that it follows. Which transfers took place, and the
 * order of micro-batches, is taken from the times in the rank's first step of the same shape.
 *
 * @param draft  with parts in the order (step, type, begin)
 * @return       false when out of memory
 */
bool tm_ops_order(tm_ops_draft *draft) TM_MUST_CHECK;

#endif
