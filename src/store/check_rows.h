/* Checks the rows of record tables, after tm_store_check has found that all columns exist. */
#ifndef TMERGE_STORE_CHECK_ROWS_H
#define TMERGE_STORE_CHECK_ROWS_H

#include "check_faults.h"

/* TM_CHECK_ROWS: number of rows that are read at once. TM_CHECK_ELEMENT_MAX: maximum size of a row
 * [B]. */
enum { TM_CHECK_ROWS = 65536, TM_CHECK_ELEMENT_MAX = 8 };

/** Checks that ranks and tracks are in order and cover all events. Sets check->track_ends. */
void tm_check_tracks(tm_check *check);

/** Reads every row of a column. Checks that references are valid, and that numbers ascend in
 * columns where they have to. */
void tm_check_column_rows(tm_check *check, tm_record table, const tm_record_column *column);

#endif
