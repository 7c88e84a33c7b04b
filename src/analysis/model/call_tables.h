/* Table calls.call: sums over calls with the same name, of a rank and of all ranks. */
#ifndef TMERGE_CALL_TABLES_H
#define TMERGE_CALL_TABLES_H

#include "analysis/shared/calls.h"

/** Maximum number of rows of a level: those with the highest cost are kept. There may be as many
 * names as calls. */
enum { TM_CALL_ROWS = 1000 };

/** Levels, in alphabetical order of their words. */
typedef enum tm_call_level {
    TM_CALLS_ANNOTATION,
    TM_CALLS_MODULE,
    TM_CALLS_OPERATOR,
    TM_CALLS_SHAPE, /* operators by input shapes */
    TM_N_CALL_LEVELS
} tm_call_level;

/** The table calls.call, and the part table from which it is merged. */
extern const tm_table_def tm_call_table, tm_call_part;

/** Sums the calls of a rank by name; operators with known input shapes also by name and shapes.
 * Sums of modules include the backward pass. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_call_rows(const tm_rank_view *view, tm_call_level level, const tm_calls *calls,
                       tm_tables *out, tm_error *err) TM_MUST_CHECK;

/** Merges the ranks' rows of each key into a row, and keeps the rows with the highest cost. Returns
 * TM_OK; TM_ERR_FAULT. */
tm_status tm_call_merge(const tm_names *names, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Sorts the rows of each level by device_self_ns, then by host_self_ns; annotations by
 * device_total_ns, then by host_total_ns. Keeps the first TM_CALL_ROWS rows of a level. The sort is
 * stable: if the caller sorts by key before, rows with equal times stay in the order of their keys.
 */
void tm_call_order(tm_table *shown);

#endif
