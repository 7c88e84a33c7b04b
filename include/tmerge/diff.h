/* What differs between two jobs, from the tables of their stores: before and after a change, or two
 * runs. The differences are tables themselves. */
#ifndef TMERGE_DIFF_H
#define TMERGE_DIFF_H

#include "tmerge/table.h"

/** One of the two jobs. */
typedef struct tm_diff_side {
    const char *store;       /* its path, as it is shown */
    const tm_tables *tables; /* those of the analyses; one that a store lacks is empty */
} tm_diff_side;

/** The definitions of the tables that tm_diff_compare fills, and that of tm_gate_compare. */
const tm_table_def *const *tm_diff_defs(size_t *n);

/** Whether the table of an analysis is looked at; the others need not be read. */
bool tm_diff_reads(const char *table);

/**
 * Compares two jobs.
 *
 * @param sides  A, which was before, and B; their rows as the stores have them
 * @param out    created here with the tables of tm_diff_defs, destroyed by the caller; set only on
 *               TM_OK
 * @return       TM_OK; TM_ERR_FAULT where memory is out
 */
tm_status tm_diff_compare(const tm_diff_side sides[2], tm_tables *out, tm_error *err) TM_MUST_CHECK;

#endif
