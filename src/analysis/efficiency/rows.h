/* The tables of efficiency: by work (operator, kernel, place) and by rank and step. */
#ifndef TMERGE_EFFICIENCY_ROWS_H
#define TMERGE_EFFICIENCY_ROWS_H

#include "counted_calls.h"
#include "peaks.h"

/** The table of work by operator and inputs, by kernel, and by place; and the part table from which
 * it is merged. */
extern const tm_table_def tm_work_table, tm_work_part;

/** Adds a rank's rows to the part table. Returns TM_OK or TM_ERR_FAULT. */
tm_status tm_work_rows(const tm_rank_view *view, const tm_counted_calls *calls, tm_tables *out,
                       tm_error *err) TM_MUST_CHECK;

/** Merges tm_work_part into tm_work_table. Returns TM_OK or TM_ERR_FAULT. */
tm_status tm_work_merge(const tm_names *names, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Keeps the rows of each level with the most time. Sets the columns that need peaks. @p peaks has
 * the peaks that are equal on all ranks. */
void tm_work_order(const tm_peaks *peaks, tm_tables *out);

/** The table of ranks, the table of the steps of each rank, and the part table with sums for each
 * rank, step and number type. */
extern const tm_table_def tm_efficiency_rank_table, tm_efficiency_step_table;
extern const tm_table_def tm_efficiency_number_part;

/** Adds a rank's rows, without the columns that need peaks. Returns TM_OK or TM_ERR_FAULT. */
tm_status tm_efficiency_rows(const tm_rank_view *view, const tm_counted_calls *calls,
                             tm_tables *out, tm_error *err) TM_MUST_CHECK;

/**
 * Sets the columns that need peaks, for all ranks.
 * @param given   peaks given by the user, or NULL
 * @param common  peaks that are equal on all ranks; 0 where they differ
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_efficiency_complete(const tm_peaks *given, tm_tables *out, tm_peaks *common,
                                 tm_error *err) TM_MUST_CHECK;

#endif
