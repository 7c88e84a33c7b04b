/* JSON that stands in a page: no text in it can end the element that it is in. */
#ifndef TMERGE_REPORT_JSON_H
#define TMERGE_REPORT_JSON_H

#include <stddef.h>

#include "table/out.h"
#include "tmerge/table.h"

/** A quoted string. @param text  valid UTF-8 */
void tm_report_json_string(tm_out *out, const char *text, size_t size);

/** The rows of a table: an array of arrays. Integers of more than 53 bits are strings.
 * @param begin_ns  what is taken off the times since the epoch */
void tm_report_json_rows(tm_out *out, const tm_table *table, int64_t begin_ns);

/** What the table's definition says, without its rows and without closing the object. */
void tm_report_json_def(tm_out *out, const tm_table *table);

#endif
