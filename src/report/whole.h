/* Totals of a table of which the page has only some rows. */
#ifndef TMERGE_REPORT_WHOLE_H
#define TMERGE_REPORT_WHOLE_H

#include "table/out.h"
#include "tmerge/table.h"

/** Appends the object described in report/extract.h. TM_OK; TM_ERR_FAULT when out of memory. */
tm_status tm_whole_put(const tm_table *table, tm_out *out, tm_error *err) TM_MUST_CHECK;

#endif
