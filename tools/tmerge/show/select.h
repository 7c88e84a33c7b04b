/* Selected rows of a table in a store. */
#ifndef TMERGE_SHOW_SELECT_H
#define TMERGE_SHOW_SELECT_H

#include "show/show_options.h"
#include "table/stream.h"

typedef struct tm_selection {
    const tm_store *store;
    const tm_show_options *options;
    tm_column *columns; /* owned; columns of both definitions: first the shown ones, then those that
                           are only read */
    tm_table_def read, shown; /* definitions of all columns that are read, and of the shown ones */
    const tm_table_def *of;
    int rank, step, sort, level; /* indices in `read` of the columns `rank` and `step`, of the
                                    column to sort by, and of the column `level`; -1: none */
    tm_where_table where;
    tm_tables held; /* the selected rows if is_held is set */
    bool is_held;
} tm_selection;

/** Prepares a selection. If rows are sorted or --top is given, reads them into memory.
 * @param def has all columns that the options name
 * @param out freed by the caller, also after a failure
 * @return     TM_OK; TM_ERR_USAGE; the reader's status */
tm_status tm_selection_make(const tm_store *store, const tm_table_def *def,
                            const tm_show_options *options, tm_selection *out,
                            tm_error *err) TM_MUST_CHECK;
void tm_selection_free(tm_selection *selection);

/** Returns the rows. Each use reads them again, unless they are held in memory. */
tm_rows tm_selection_rows(const tm_selection *selection);

#endif
