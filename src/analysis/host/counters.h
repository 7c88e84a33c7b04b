/* The table of sampled counters: of GPUs, network cards, queues, ... */
#ifndef TMERGE_COUNTERS_H
#define TMERGE_COUNTERS_H

#include "tmerge/analysis.h"

extern const tm_table_def tm_counters_table;

/** Adds the rows of a rank. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_counters_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) TM_MUST_CHECK;

#endif
