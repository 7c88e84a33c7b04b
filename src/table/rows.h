/* What the files of this folder share about a table's cells. */
#ifndef TMERGE_TABLE_ROWS_H
#define TMERGE_TABLE_ROWS_H

#include "tmerge/table.h"

/** Cells of one row. */
static inline size_t tm_rows_width(const tm_table *table) {
    return (size_t)table->def->n_columns;
}

/**
 * Makes room for @p n_rows in all, for callers that know how many will come. It also invalidates
 * every pointer to a row that was given out.
 *
 * @return  false when memory is out; the table is unchanged then
 */
bool tm_rows_reserve(tm_table *table, size_t n_rows);

#endif
