/* Verifies every byte of a store. */
#ifndef TMERGE_CHECK_H
#define TMERGE_CHECK_H

#include <stdint.h>

#include "tmerge/status.h"
#include "tmerge/table.h"

typedef struct tm_store_contents {
    int64_t n_datasets, n_events, bytes;
} tm_store_contents;

/** Called once for each fault. If a column has several faults, the function is called only for one
 * of them. The message names the store. */
typedef void tm_fault_function(void *context, const tm_error *fault);

typedef struct tm_fault_sink {
    tm_fault_function *hear;
    void *context;
} tm_fault_sink;

/**
 * Reads and verifies a whole store: its checksums, its structure against the schema (columns,
 * types, lengths, units), the order of names, ranks, tracks and events, and that every id and row
 * number exists. Takes memory for the structure, the names, the tracks and one result table.
 * @param known  definitions of result tables; their rows are not used. For other tables, only
 *               checksums are verified
 * @param out    set only on TM_OK
 * @return       TM_OK; TM_ERR_INPUT: @p sink received at least one fault; TM_ERR_FAULT with @p err
 */
tm_status tm_store_check(const char *path, const tm_tables *known, const tm_fault_sink *sink,
                         tm_store_contents *out, tm_error *err) TM_MUST_CHECK;

#endif
