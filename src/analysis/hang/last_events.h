/* Finds the last data in a rank's trace, if traces are read together with dumps. */
#ifndef TMERGE_HANG_LAST_EVENTS_H
#define TMERGE_HANG_LAST_EVENTS_H

#include "tmerge/analysis.h"

extern const tm_table_def tm_hang_seen_def;

/* columns of hang.seen */
enum { HS_RANK, HS_OFFSET, HS_END, HS_STEP, HS_STEP_BEGIN, HS_CALL, HS_CALL_BEGIN, HS_OPEN, N_HS };

/** Requests the table hang.seen. Must be called before tm_hang_seen_rank, which otherwise does
 * nothing. Call it only if there are dumps. */
tm_status tm_hang_seen_ask(tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Rank part of the analysis `hang`: adds the row of hang.seen. */
tm_status tm_hang_seen_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) TM_MUST_CHECK;

/** Returns the row of a rank; NULL if the rank has no trace. @p seen must be sorted. */
const tm_cell *tm_hang_seen_of(const tm_table *seen, int64_t rank);

#endif
