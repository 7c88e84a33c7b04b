/* Fills tables from rows written as text, for tests that read tables. */
#ifndef TMERGE_TEST_ROWS_FIXTURE_H
#define TMERGE_TEST_ROWS_FIXTURE_H

#include "tmerge/table.h"

/* Adds a row from "column=value column=value ..."; columns not named are null. Values contain no
 * spaces. The test fails if the table or a column does not exist. */
void add_row(tm_tables *tables, const char *name, const char *cells);

/* Like add_row, with cells formatted as by printf. */
__attribute__((format(printf, 3, 4))) void add_rowf(tm_tables *tables, const char *name,
                                                    const char *format, ...);

/* Returns the tables of all analyses, without rows. */
tm_tables open_tables(void);

#endif
