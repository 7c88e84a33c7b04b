/* The tables of unified memory: migrations between host and GPU, and their page faults. */
#ifndef TMERGE_UNIFIED_H
#define TMERGE_UNIFIED_H

#include "tmerge/analysis.h"

extern const tm_table_def tm_unified_table;

/** Adds a rank's rows. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_unified_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) TM_MUST_CHECK;

#endif
