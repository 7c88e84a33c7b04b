/* Finds devices that are slow in a step, and why. */
#ifndef TMERGE_XLA_CELLS_H
#define TMERGE_XLA_CELLS_H

#include "tmerge/table.h"

#define TM_POD_STEP "pod.step"
#define TM_POD_RANK "pod.rank"

/** Sets `slow` and `over_ns` in pod.rank and pod.step, which must be sorted by their keys. Reads
 * overlap.unmarked. If pod.step has too many rows, keeps only the rows of slow devices. Returns
 * TM_OK; TM_ERR_FAULT. */
tm_status tm_cells_judge(tm_tables *tables, tm_error *err) TM_MUST_CHECK;

#endif
