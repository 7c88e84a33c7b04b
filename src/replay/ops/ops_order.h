/* Which operation of a training step follows which. */
#ifndef TMERGE_REPLAY_OPS_ORDER_H
#define TMERGE_REPLAY_OPS_ORDER_H

#include "ops_draft.h"

/**
 * Finds what each operation follows, and which it is of those that join ranks; puts operations in
 * an order in which none stands before one that it follows. What can only be told from times (which
 * transfers took place at all, and the order of the micro-batches) is as in the rank's first step.
 *
 * @param draft  with parts in the order (step, type, begin)
 * @return       false when memory is out
 */
bool tm_ops_order(tm_ops_draft *draft) TM_MUST_CHECK;

#endif
