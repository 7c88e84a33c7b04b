/* Derives which operation of a training step follows which. */
#ifndef TMERGE_REPLAY_OPS_ORDER_H
#define TMERGE_REPLAY_OPS_ORDER_H

#include "ops_events.h"

/**
 * Finds which operations each operation follows, and the ids of operations that join ranks. Sorts
 * operations so that each comes after those that it follows. If consecutive steps have the same
 * shape, the times of the first one show for all of them which transfers took place, and in which
 * order passes ran.
 * @param draft  parts must be sorted by (step, type, begin)
 * @return       false when out of memory
 */
bool tm_ops_order(tm_ops_draft *draft) TM_MUST_CHECK;

#endif
