/* Totals over all rows of a table, for a page that has only some of them. */
#ifndef TMERGE_REPORT_TABLE_TOTALS_H
#define TMERGE_REPORT_TABLE_TOTALS_H

#include "table/out.h"
#include "tmerge/table.h"

/** Appends the object described in report/top_rows.h. TM_OK; TM_ERR_FAULT when out of memory. */
tm_status tm_table_totals_put(const tm_table *table, tm_out *out, tm_error *err) TM_MUST_CHECK;

#endif
