/* The table job.remark, and a line with a rank's diagnostics. Part of the analysis `job`. */
#ifndef TMERGE_DIAGNOSTICS_H
#define TMERGE_DIAGNOSTICS_H

#include "tmerge/analysis.h"

extern const tm_table_def tm_diagnostic_table;

/** Adds the rows of a rank. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_diagnostic_rows(const tm_rank_view *view, tm_tables *out, tm_error *err) TM_MUST_CHECK;

/** Sets @p cell of @p table to "3 non_finite, 2 no_time"; null if there are no diagnostics. */
tm_status tm_diagnostic_text(const tm_timeline *timeline, tm_table *table, tm_cell *cell,
                             tm_error *err) TM_MUST_CHECK;

#endif
