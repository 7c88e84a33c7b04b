/* Access to the cells of a table, for the files of this folder. */
#ifndef TMERGE_TABLE_ROWS_H
#define TMERGE_TABLE_ROWS_H

#include "tmerge/table.h"

static inline size_t tm_rows_width(const tm_table *table) {
    return (size_t)table->def->n_columns;
}

/**
 * Reserves capacity for @p n_rows in total, for callers that know the number. Invalidates all
 * pointers to rows.
 *
 * @return  false if out of memory; the table is then unchanged
 */
bool tm_rows_reserve(tm_table *table, size_t n_rows);

#endif
