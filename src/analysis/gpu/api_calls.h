/* The table launches.api of analysis `launches`: CUDA or HIP runtime and driver calls by name. */
#ifndef TMERGE_API_CALLS_H
#define TMERGE_API_CALLS_H

#include "tmerge/analysis.h"

extern const tm_table_def tm_api_table, tm_api_part_table;

/** Adds a rank's rows to the part table. Returns TM_OK or TM_ERR_FAULT. */
tm_status tm_api_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) TM_MUST_CHECK;

/** Combines the rows of one name on all ranks. Returns TM_OK or TM_ERR_FAULT. */
tm_status tm_api_merge(const tm_names *names, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

#endif
