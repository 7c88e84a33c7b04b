/* Tells a good store from a damaged one, down to the last byte. */
#ifndef TMERGE_CHECK_H
#define TMERGE_CHECK_H

#include <stdint.h>

#include "tmerge/status.h"
#include "tmerge/table.h"

/** What a good store holds. */
typedef struct tm_store_contents {
    int64_t n_datasets, n_events, bytes;
} tm_store_contents;

/** Hears of one fault: a message with the store's path. At most one for each column. */
typedef void tm_fault_function(void *context, const tm_error *fault);

typedef struct tm_fault_sink {
    tm_fault_function *hear;
    void *context;
} tm_fault_sink;

/**
 * Reads all of a store: its sums, its structure against the schema (columns, types, lengths,
 * units), the order of names, ranks, tracks and events, and that every id and row number points at
 * something. Needs memory for the structure, the names, the tracks and one result table.
 *
 * @param known  the result tables whose columns are known; their rows are not looked at. Of a table
 *               that is not among them only the sums are verified.
 * @param out    set only on TM_OK
 * @return       TM_OK; TM_ERR_INPUT: @p sink heard at least one fault; TM_ERR_FAULT with @p err
 */
tm_status tm_store_check(const char *path, const tm_tables *known, const tm_fault_sink *sink,
                         tm_store_contents *out, tm_error *err) TM_MUST_CHECK;

#endif
