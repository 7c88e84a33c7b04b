/* Writes JSON into an HTML element. Texts are escaped so that they cannot close the element. */
#ifndef TMERGE_REPORT_PAGE_JSON_H
#define TMERGE_REPORT_PAGE_JSON_H

#include <stddef.h>

#include "table/out.h"
#include "tmerge/table.h"

/** Writes a quoted string. @param text  valid UTF-8 */
void tm_report_json_string(tm_out *out, const char *text, size_t size);

/** Writes a table as an array of columns, each an array of cells. Compressed, this is 20 % smaller
 * than an array of rows. Integers over 53 bits are strings.
 * @param begin_ns subtracted from times since the epoch */
void tm_report_json_columns(tm_out *out, const tm_table *table, int64_t begin_ns);

/** Writes a table's definition without rows. The caller closes the object. */
void tm_report_json_def(tm_out *out, const tm_table *table);

#endif
