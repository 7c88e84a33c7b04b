/* Tables whose first column, `level`, says how a row divides the table's total. Limits such as
 * `--top` apply to the rows of each level separately. */
#ifndef TMERGE_TABLE_LEVELS_H
#define TMERGE_TABLE_LEVELS_H

#include "tmerge/table.h"

/** Definition of the column `level`. @p words lists the levels as in a sentence, for example
 * "operator or module". */
#define TM_LEVEL_COLUMN(words)                                                                     \
    {                                                                                              \
        "level", TM_TEXT, "",                                                                      \
            "What the row is a sum for: " words                                                    \
            ". Each level divides the same total, so add up only the rows of one level."           \
    }

bool tm_table_has_levels(const tm_table_def *def);

/** Returns the first row of a level, and sets @p end to the row after its last one: the rows of a
 * level are adjacent. If the level has no rows, both results are the table's number of rows. */
size_t tm_table_level(const tm_table *table, const char *level, size_t *end);

/** Removes the rows of all other levels. */
void tm_table_keep_level(tm_table *table, const char *level);

bool tm_row_has_level(const tm_cell *row, const char *level);

#endif
