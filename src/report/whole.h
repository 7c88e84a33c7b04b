/* What all rows of a table sum to, for a page that holds some of them. */
#ifndef TMERGE_REPORT_WHOLE_H
#define TMERGE_REPORT_WHOLE_H

#include "table/out.h"
#include "tmerge/table.h"

/** Appends the object that report/extract.h describes. TM_OK; TM_ERR_FAULT where memory is out. */
tm_status tm_whole_put(const tm_table *table, tm_out *out, tm_error *err) TM_MUST_CHECK;

#endif
