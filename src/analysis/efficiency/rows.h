/* The tables of efficiency: by what was done, and by when and where. */
#ifndef TMERGE_EFFICIENCY_ROWS_H
#define TMERGE_EFFICIENCY_ROWS_H

#include "counted_calls.h"
#include "peaks.h"

/** By operator and inputs, kernel, place in the program: shown, and on the way there. */
extern const tm_table_def tm_work_operator_table, tm_work_kernel_table, tm_work_place_table;
extern const tm_table_def tm_work_operator_part, tm_work_kernel_part, tm_work_place_part;

/** Adds a rank's rows to the parts. TM_OK; TM_ERR_FAULT. */
tm_status tm_work_rows(const tm_rank_view *view, const tm_counted_calls *calls, tm_tables *out,
                       tm_error *err) TM_MUST_CHECK;

/** Merges the parts. TM_OK; TM_ERR_FAULT. */
tm_status tm_work_merge(const tm_names *names, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Leaves the rows with most time, and holds them against the peaks that all ranks have in common.
 */
void tm_work_order(const tm_peaks *peaks, tm_tables *out);

/** By rank, and rank and step. */
extern const tm_table_def tm_efficiency_rank_table, tm_efficiency_step_table;
extern const tm_table_def tm_efficiency_number_part;

/** Adds a rank's rows, without what follows from peaks. TM_OK; TM_ERR_FAULT. */
tm_status tm_efficiency_rows(const tm_rank_view *view, const tm_counted_calls *calls,
                             tm_tables *out, tm_error *err) TM_MUST_CHECK;

/**
 * Completes the rows of all ranks.
 * @param given   what the user says of the devices, or NULL
 * @param common  the peaks that all ranks have; 0 where they differ
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_efficiency_complete(const tm_peaks *given, tm_tables *out, tm_peaks *common,
                                 tm_error *err) TM_MUST_CHECK;

#endif
