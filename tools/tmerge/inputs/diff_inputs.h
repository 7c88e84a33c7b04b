/* Reads the tables of the stores that are compared, and writes the result of the comparison. */
#ifndef TMERGE_DIFF_INPUTS_H
#define TMERGE_DIFF_INPUTS_H

#include <stdbool.h>

#include "tmerge/table.h"

/** Reads the tables that tmerge diff compares. A table that the store of an older tmerge
 * lacks stays empty.
 * @param paths  [2]
 * @param out    destroyed by the caller; set only on TM_OK
 * @return       TM_OK; TM_ERR_INPUT, TM_ERR_FAULT */
tm_status tm_diff_inputs_read(char *const *paths, tm_tables out[2], tm_error *err) TM_MUST_CHECK;
void tm_diff_inputs_destroy(tm_tables sides[2]);

/** Reads the tables of one store in the same way. @p tables: definitions of tm_analysis_tables,
 * without rows. */
tm_status tm_diff_input_read(const char *path, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Prints a comparison for programs: all tables as JSON, or the first as CSV. TM_OK; TM_ERR_FAULT.
 */
tm_status tm_diff_inputs_print(const tm_tables *found, bool json, tm_error *err) TM_MUST_CHECK;

/** Writes a comparison as CSV files in a folder. TM_OK; TM_ERR_OUTPUT; TM_ERR_FAULT. */
tm_status tm_diff_inputs_write(const tm_tables *found, const char *folder,
                               tm_error *err) TM_MUST_CHECK;

#endif
