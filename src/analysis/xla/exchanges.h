/* Sums over collectives of compiled programs, by program, operation and group. */
#ifndef TMERGE_XLA_EXCHANGES_H
#define TMERGE_XLA_EXCHANGES_H

#include "analysis/shared/xla.h"

/** pod.collective, and the part table from which it is merged. */
extern const tm_table_def tm_pod_collective_def, tm_pod_collective_part_def;

/** tm_exchanges_rank adds the rows of a rank. tm_exchanges_merge merges the rows of all ranks. Both
 * return TM_OK or TM_ERR_FAULT. */
tm_status tm_exchanges_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) TM_MUST_CHECK;
tm_status tm_exchanges_merge(const tm_names *names, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

#endif
