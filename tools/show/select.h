/* The rows of one table of a store that are shown. */
#ifndef TMERGE_SHOW_SELECT_H
#define TMERGE_SHOW_SELECT_H

#include "show/choice.h"
#include "table/stream.h"

typedef struct tm_selection {
    const tm_store *store;
    const tm_choice *choice;
    tm_column *columns; /* owned; of both definitions: those that are shown, then the others */
    tm_table_def read, shown; /* what is read of the store, and what of that is shown */
    int rank, step, sort;     /* where these columns are in what is read; -1: nowhere */
    tm_where_table where;
    tm_tables held; /* rows in their order, where it is not that of the store */
    bool is_held;
} tm_selection;

/**
 * Reads what has to be held: the rows of a table that is sorted, of --top so many.
 * @param def  has all columns that the choice names
 * @param out  freed whatever comes of it
 * @return     TM_OK; TM_ERR_USAGE; as the reader
 */
tm_status tm_selection_make(const tm_store *store, const tm_table_def *def, const tm_choice *choice,
                            tm_selection *out, tm_error *err) TM_MUST_CHECK;
void tm_selection_free(tm_selection *selection);

/** Its rows, which are read anew each time, or held. */
tm_rows tm_selection_rows(const tm_selection *selection);

#endif
