/* Top rows and totals of a table that is too large for a page. */
#ifndef TMERGE_REPORT_EXTRACT_H
#define TMERGE_REPORT_EXTRACT_H

#include <stddef.h>

#include "report/page_choice.h"
#include "table/out.h"
#include "tmerge/table.h"

/**
 * Shortens a table: removes rows of ranks and steps that are not kept, then those that come last by
 * the table's own measure. Keeps the first and last arrivals of each operation, whole steps of the
 * critical path, longest first, and all rows of small tables.
 *
 * @param most      maximum number of rows
 * @param all       if rows are removed, totals of the whole table as JSON: an object with "n",
 *                  "columns": [known, sum, minimum, median, maximum, distinct] of each, null for
 *                  texts, and "groups", the sums by kind and similar columns: [values..., rows,
 *                  [sums...]]
 * @param left_out  number of rows removed; set only on TM_OK
 * @return          TM_OK; TM_ERR_FAULT if memory is out
 */
tm_status tm_extract_rows(tm_table *table, const tm_page_choice *choice, size_t most, tm_out *all,
                          size_t *left_out, tm_error *err) TM_MUST_CHECK;

#endif
