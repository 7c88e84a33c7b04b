/* Table calls.call: sums over calls with the same name, of a rank and of all ranks. */
#ifndef TMERGE_CALL_TABLES_H
#define TMERGE_CALL_TABLES_H

#include "analysis/shared/calls.h"

/** Maximum number of rows of a level. The rows with the highest cost are kept. Without a limit,
 * there might be as many rows as calls. */
enum { TM_CALL_ROWS = 1000 };

/** Levels of the table, in alphabetical order of the words that the table has for them. */
typedef enum tm_call_level {
    TM_CALLS_ANNOTATION,
    TM_CALLS_MODULE,
    TM_CALLS_OPERATOR,
    TM_CALLS_SHAPE, /* operators, summed by input shapes */
    TM_N_CALL_LEVELS
} tm_call_level;

/** The table calls.call, and the part table from which it is merged. */
extern const tm_table_def tm_call_table, tm_call_part;

/** Sums the calls of a rank by name. Operators with known input shapes are also summed by name and
 * shapes. The sums of modules include the backward pass. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_call_rows(const tm_rank_view *view, tm_call_level level, const tm_calls *calls,
                       tm_tables *out, tm_error *err) TM_MUST_CHECK;

/** Merges the ranks' rows of each key, and keeps the rows with the highest cost. Returns TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_call_merge(const tm_names *names, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Sorts the rows of each level, and keeps the first TM_CALL_ROWS of them. Annotations are sorted
 * by device_total_ns, then by host_total_ns. Other levels are sorted by device_self_ns, then by
 * host_self_ns. The sort is stable, so if the caller has sorted the rows by key, rows with equal
 * times stay in the order of their keys. */
void tm_call_order(tm_table *shown);

#endif
