/* State of a store check, and reporting of faults. */
#ifndef TMERGE_STORE_CHECK_FAULTS_H
#define TMERGE_STORE_CHECK_FAULTS_H

#include "reader.h"
#include "tmerge/check.h"

typedef struct tm_check {
    const tm_store *store;
    const tm_fault_sink *sink;
    size_t n_faults;
    tm_status status; /* TM_OK; TM_ERR_FAULT if the check ended because it was out of memory */
    tm_error *err;    /* the error, if status is not TM_OK */
    size_t n_rows[TM_N_RECORDS];
    size_t n_names;
    int64_t n_datasets;
    size_t *track_ends; /* owned; [n_tracks] end of each track's rows in /events; NULL: unknown */
    size_t n_tracks;
    char *rows; /* owned; buffer of TM_CHECK_ROWS rows of up to TM_CHECK_ELEMENT_MAX bytes */
} tm_check;

/** Reports a fault. */
void tm_check_fault(tm_check *check, const char *format, ...) TM_PRINTF(2, 3);

/** Returns whether a call's status is TM_OK. If it is TM_ERR_INPUT, reports a fault of the store;
 * any other failure ends the check. */
bool tm_check_call(tm_check *check, tm_status status, const tm_error *err);

#endif
