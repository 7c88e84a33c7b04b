/* The rows of record tables, checked: what tm_store_check does once it knows that all columns are
 * there. */
#ifndef TMERGE_STORE_CHECK_ROWS_H
#define TMERGE_STORE_CHECK_ROWS_H

#include "reader.h"
#include "tmerge/check.h"

enum { TM_CHECK_ROWS = 65536, TM_CHECK_ELEMENT_MAX = 8 }; /* rows read at once, bytes of one */

typedef struct tm_check {
    const tm_store *store;
    const tm_fault_sink *sink;
    size_t n_faults;
    tm_status status; /* TM_ERR_FAULT where the check itself failed */
    tm_error *err;    /* of that */
    size_t n_rows[TM_N_RECORDS];
    size_t n_names;
    int64_t n_datasets;
    size_t *track_ends; /* owned; [n_tracks] rows in /events; NULL where they are not known */
    size_t n_tracks;
    char *rows; /* owned; [TM_CHECK_ROWS] of TM_CHECK_ELEMENT_MAX bytes */
} tm_check;

/** Tells of a fault. */
void tm_check_fault(tm_check *check, const char *format, ...) TM_PRINTF(2, 3);

/** Keeps the status of a call: a fault of the store is told. Returns whether it was TM_OK. */
bool tm_check_call(tm_check *check, tm_status status, const tm_error *err);

/** Ranks and tracks: that they are in order and cover the events. Fills track_ends. */
void tm_check_tracks(tm_check *check);

/** Reads every row of a column: that it points at something, and ascends where it must. */
void tm_check_column_rows(tm_check *check, tm_record table, const tm_record_column *column);

#endif
