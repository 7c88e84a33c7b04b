/* The table job.integrity: how much of a rank's work was recorded, and how far the rank's figures
 * may be off. Part of the analysis `job`. */
#ifndef TMERGE_INTEGRITY_H
#define TMERGE_INTEGRITY_H

#include "tmerge/analysis.h"

extern const tm_table_def tm_integrity_table;

/** Adds the row of a rank. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_integrity_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) TM_MUST_CHECK;

/** Compares the ranks whose traces are cut short with the ranks whose traces are whole. Reads
 * job.rank; both tables are sorted. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_integrity_job(tm_tables *out, tm_error *err) TM_MUST_CHECK;

#endif
