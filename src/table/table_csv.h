/* Cells of comma-separated values, the same in tables and in exports. */
#ifndef TMERGE_TABLE_TABLE_CSV_H
#define TMERGE_TABLE_TABLE_CSV_H

#include "table/out.h"

/** Line end by RFC 4180, section 2, rule 1. */
#define TM_CSV_LINE_END "\r\n"

/** Appends a text cell. The text is quoted if CSV requires it. It is also quoted if it would be
 * ambiguous: an unquoted empty text means null, and an unquoted # starts the name of a table. */
void tm_csv_text(tm_out *out, const char *text, size_t size);

#endif
