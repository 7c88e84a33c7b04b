/* Says why a selection has no rows. */
#ifndef TMERGE_SHOW_NO_ROWS_H
#define TMERGE_SHOW_NO_ROWS_H

#include "show/select.h"

enum { TM_NO_ROWS_MAX = 640 };

/**
 * Finds a condition of --where that no text in its column meets. Writes the texts that the column
 * has: "kind has no 'AllReduce', but allgather, allreduce". Writes "" if there is no such
 * condition.
 * @return  TM_OK; the reader's status */
tm_status tm_no_rows_why(const tm_store *store, const tm_table_def *def,
                         const tm_show_options *options, char out[TM_NO_ROWS_MAX],
                         tm_error *err) TM_MUST_CHECK;

#endif
