/* Tables, analyses and columns that had another name in the last version. */
#ifndef TMERGE_TABLE_RENAMED_H
#define TMERGE_TABLE_RENAMED_H

#include <stddef.h>

#include "tmerge/table.h"

typedef struct tm_renamed {
    const char *was, *now; /* former and present name of a table or an analysis */
    const char *level; /* name of a level if the former table is now this level of the table `now`;
                          else NULL */
    const char *name_was; /* former name of the column `name`; NULL: `name`, too */
} tm_renamed;

extern const tm_renamed tm_renames[];
extern const size_t tm_n_renames;

/** Returns the entry of a former name. The name may have a '_' in place of its '.', as it has in
 * SQL. Returns NULL if there is no such entry. */
const tm_renamed *tm_renamed_find(const char *text);

/** Returns the name that a column of the present table had in the former table. */
const char *tm_renamed_column(const tm_renamed *renamed, const char *present);

/** A column whose name in the last version was `was`. */
typedef struct tm_former_column {
    const char *table, *was, *column;
} tm_former_column;

/** Returns the i-th renamed column of a table, from 0; NULL after the last. */
const tm_former_column *tm_former_column_of(const tm_table_def *def, int i);

#endif
