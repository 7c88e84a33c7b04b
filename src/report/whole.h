/* Totals of a table if the page has only some of its rows. */
#ifndef TMERGE_REPORT_WHOLE_H
#define TMERGE_REPORT_WHOLE_H

#include "table/out.h"
#include "tmerge/table.h"

/** Appends the object described in report/extract.h. TM_OK; TM_ERR_FAULT if memory is out. */
tm_status tm_whole_put(const tm_table *table, tm_out *out, tm_error *err) TM_MUST_CHECK;

#endif
