/* The tables of analysis `groups` that users see. */
#ifndef TMERGE_GROUP_ROWS_H
#define TMERGE_GROUP_ROWS_H

#include "tmerge/table.h"

extern const tm_table_def tm_group_group_def;
extern const tm_table_def tm_group_dimension_def;

/** Internal table: communication time of each rank. */
extern const tm_table_def tm_group_rank_def;

/** Adds all rows. The internal tables must be sorted. Returns TM_OK or TM_ERR_FAULT. */
tm_status tm_group_rows_add(tm_tables *tables, tm_error *err) TM_MUST_CHECK;

#endif
