/* What a page holds of a table that is too large for it: some rows, and what all of them sum to. */
#ifndef TMERGE_REPORT_EXTRACT_H
#define TMERGE_REPORT_EXTRACT_H

#include <stddef.h>

#include "report/choice.h"
#include "table/out.h"
#include "tmerge/table.h"

/**
 * Takes rows out of a table: of ranks and steps that are not kept, and of what is still too much
 * those that come last in the table's own measure. Of each operation's arrivals the first and the
 * last ones stay; of the critical path whole steps, the longest first; of a table of few rows all.
 *
 * @param most      rows that stay at most
 * @param all       where rows are taken out, what the whole table was, as JSON: an object with "n",
 *                  "columns": of each [known, sum, least, median, most, different], null for texts,
 *                  and "groups", which sum by kind and the like: [values..., rows, [sums...]]
 * @param left_out  how many rows went; set only on TM_OK
 * @return          TM_OK; TM_ERR_FAULT where memory is out
 */
tm_status tm_extract_rows(tm_table *table, const tm_page_choice *choice, size_t most, tm_out *all,
                          size_t *left_out, tm_error *err) TM_MUST_CHECK;

#endif
