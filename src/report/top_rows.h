/* Top rows and totals of a table that is too large for a page. */
#ifndef TMERGE_REPORT_TOP_ROWS_H
#define TMERGE_REPORT_TOP_ROWS_H

#include <stddef.h>

#include "report/page_choice.h"
#include "table/out.h"
#include "tmerge/table.h"

/** Shortens a table: removes the rows of ranks and steps that the page does not keep, then the rows
 * with the smallest values in the column by which the table ranks its rows. Keeps the first and
 * last arrivals of each operation, and whole steps of the critical path, longest first. Small
 * tables stay whole.
 *
 * @param most      maximum number of rows
 * @param all       if rows are removed, totals of the whole table as JSON: an object with "n",
 * "columns": [known, sum, minimum, median, maximum, distinct] for each column, null for texts; and
 * "groups": the sums by kind and similar columns as [values..., rows, [sums...]]
 * @param left_out  number of rows removed; set only on TM_OK
 * @return          TM_OK; TM_ERR_FAULT when out of memory */
tm_status tm_top_rows_put(tm_table *table, const tm_page_choice *choice, size_t most, tm_out *all,
                          size_t *left_out, tm_error *err) TM_MUST_CHECK;

#endif
