/* Rows of tables written as text, for the tests of what is made of them. */
#ifndef TMERGE_TEST_ROWS_FIXTURE_H
#define TMERGE_TEST_ROWS_FIXTURE_H

#include "tmerge/table.h"

/* Adds a row from "column=value column=value ..."; what is not named is null. Texts are without
 * spaces. The test fails where there is no such table or column. */
void add_row(tm_tables *tables, const char *name, const char *cells);

/* The same, of cells that are printed first. */
__attribute__((format(printf, 3, 4))) void add_rowf(tm_tables *tables, const char *name,
                                                    const char *format, ...);

/* The tables of all analyses, without rows. */
tm_tables open_tables(void);

#endif
