/* Top rows and totals of a table that is too large for a page. */
#ifndef TMERGE_REPORT_TOP_ROWS_H
#define TMERGE_REPORT_TOP_ROWS_H

#include <stddef.h>

#include "report/page_selection.h"
#include "table/out.h"
#include "tmerge/table.h"

/** Shortens a table. First removes the rows of ranks and steps that the page does not keep. If
 * there are still too many rows, then removes the rows with the smallest values in the column by
 * which the table ranks its rows. Some tables are shortened in another way: of the arrivals at an
 * operation, the first and the last ones stay; of the critical path, whole steps stay, the longest
 * steps first. Small tables are not shortened.
 *
 * @param most      maximum number of rows
 * @param all       If rows are removed, totals of the whole table are appended as a JSON object.
 *                  "n" is the number of rows. "columns" has [number of values, sum, minimum,
 *                  median, maximum, number of distinct values] for each column, and null for a
 *                  column of texts. "groups" has sums for rows with equal kinds: [values..., rows,
 *                  [sums...]]
 * @param left_out  number of rows removed; set only on TM_OK
 * @return          TM_OK; TM_ERR_FAULT when out of memory */
tm_status tm_top_rows_put(tm_table *table, const tm_page_selection *selection, size_t most,
                          tm_out *all, size_t *left_out, tm_error *err) TM_MUST_CHECK;

#endif
