/* Compares two jobs (before and after a change, or two runs) by the tables of their stores. The
 * differences are tables themselves. */
#ifndef TMERGE_DIFF_H
#define TMERGE_DIFF_H

#include "tmerge/table.h"

typedef struct tm_diff_side {
    const char *store;       /* path as shown */
    const tm_tables *tables; /* analysis tables; a table that is not in the store is empty */
} tm_diff_side;

/** Returns the definitions of the tables that tm_diff_compare and tm_gate_compare fill. */
const tm_table_def *const *tm_diff_defs(size_t *n);

/** Returns whether the comparison uses this analysis table. Tables that it does not use need not be
 * read. */
bool tm_diff_reads(const char *table);

/**
 * Compares two jobs.
 * @param sides  A (before) and B (after), with the rows as stored
 * @param out    created here with the tables of tm_diff_defs, destroyed by the caller; set only on
 *               TM_OK
 * @return       TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_diff_compare(const tm_diff_side sides[2], tm_tables *out, tm_error *err) TM_MUST_CHECK;

#endif
