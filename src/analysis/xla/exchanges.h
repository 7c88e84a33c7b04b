/* The collectives of compiled programs: which operation of which program, of what size, among whom.
 */
#ifndef TMERGE_XLA_EXCHANGES_H
#define TMERGE_XLA_EXCHANGES_H

#include "analysis/shared/xla.h"

/** pod.collective, and the internal table on the way to it. */
extern const tm_table_def tm_pod_collective_def, tm_pod_collective_part_def;

/** The rows of a rank, and one row of those of all ranks. TM_OK; TM_ERR_FAULT. */
tm_status tm_exchanges_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) TM_MUST_CHECK;
tm_status tm_exchanges_merge(const tm_names *names, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

#endif
