/* The tables of efficiency: by work (operator, kernel, place) and by rank and step. */
#ifndef TMERGE_EFFICIENCY_ROWS_H
#define TMERGE_EFFICIENCY_ROWS_H

#include "counted_calls.h"
#include "peaks.h"

/** The table by operator and inputs, by kernel, and by place. It is merged from the part table. */
extern const tm_table_def tm_work_table, tm_work_part;

/** Adds a rank's rows to the part. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_work_rows(const tm_rank_view *view, const tm_counted_calls *calls, tm_tables *out,
                       tm_error *err) TM_MUST_CHECK;

/** Merges the part into the table. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_work_merge(const tm_names *names, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Keeps the rows of each level with the largest total time. Compares their rates with the peaks
 * that all ranks share. */
void tm_work_order(const tm_peaks *peaks, tm_tables *out);

/** The tables by rank, and by rank and step, and the part table by rank and number type. */
extern const tm_table_def tm_efficiency_rank_table, tm_efficiency_step_table;
extern const tm_table_def tm_efficiency_number_part;

/** Adds a rank's rows. Columns that need peaks are filled later. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_efficiency_rows(const tm_rank_view *view, const tm_counted_calls *calls,
                             tm_tables *out, tm_error *err) TM_MUST_CHECK;

/**
 * Fills the columns that need peaks, for all ranks.
 * @param given   peaks given by the user, or NULL
 * @param common  peaks that all ranks share; 0 where they differ
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_efficiency_complete(const tm_peaks *given, tm_tables *out, tm_peaks *common,
                                 tm_error *err) TM_MUST_CHECK;

#endif
