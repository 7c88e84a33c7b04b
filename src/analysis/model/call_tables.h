/* Table calls.call: calls summed by name, per rank and over all ranks. */
#ifndef TMERGE_CALL_TABLES_H
#define TMERGE_CALL_TABLES_H

#include "analysis/shared/calls.h"

/** Maximum rows of a level, highest cost first. There may be as many names as calls. */
enum { TM_CALL_ROWS = 1000 };

/** Levels, in the order of their words. */
typedef enum tm_call_level {
    TM_CALLS_ANNOTATION,
    TM_CALLS_MODULE,
    TM_CALLS_OPERATOR,
    TM_CALLS_SHAPE, /* operators with their input shapes */
    TM_N_CALL_LEVELS
} tm_call_level;

/** The shown table, and the internal part it is merged from. */
extern const tm_table_def tm_call_table, tm_call_part;

/** Sums a rank's calls of a level by name; operators with known input shapes also by name and
 * shapes. Modules include the backward pass. TM_OK; TM_ERR_FAULT. */
tm_status tm_call_rows(const tm_rank_view *view, tm_call_level level, const tm_calls *calls,
                       tm_tables *out, tm_error *err) TM_MUST_CHECK;

/** Adds a row over all ranks for each key, and keeps those with the highest cost. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_call_merge(const tm_names *names, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Sorts the rows of each level by cost: by device_self_ns (annotations by device_total_ns), then
 * by the corresponding host column. Drops rows after TM_CALL_ROWS. The result is deterministic for
 * rows sorted by their keys. */
void tm_call_order(tm_table *shown);

#endif
