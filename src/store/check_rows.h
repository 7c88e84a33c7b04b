/* The rows of record tables, checked: what tm_store_check does once it knows that all columns are
 * there. */
#ifndef TMERGE_STORE_CHECK_ROWS_H
#define TMERGE_STORE_CHECK_ROWS_H

#include "check_faults.h"

enum { TM_CHECK_ROWS = 65536, TM_CHECK_ELEMENT_MAX = 8 }; /* rows read at once, bytes of one */

/** Ranks and tracks: that they are in order and cover the events. Fills track_ends. */
void tm_check_tracks(tm_check *check);

/** Reads every row of a column: that it points at something, and ascends where it must. */
void tm_check_column_rows(tm_check *check, tm_record table, const tm_record_column *column);

#endif
