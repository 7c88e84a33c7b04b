/* Operators and places in the code that launched the GPU's events, by name of the event and by
 * operator. */
#ifndef TMERGE_LAUNCHED_H
#define TMERGE_LAUNCHED_H

#include "tmerge/analysis.h"

/** The table kernels.launched, and the part table from which it is merged. */
extern const tm_table_def tm_launched_table, tm_launched_part;

/* Texts in place of an operator's name. TM_LAUNCHED_OTHERS is also in place of the kernel's name,
 * in the row that merges the omitted rows of a long table. */
#define TM_LAUNCHED_OUTSIDE "(outside of any operator)"
#define TM_LAUNCHED_UNKNOWN "(launch not recorded)"
#define TM_LAUNCHED_OTHERS "(all others)"

/** Adds a rank's rows to the part table. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_launched_rows(const tm_rank_view *view, tm_tables *out, tm_error *err) TM_MUST_CHECK;

/** Merges the rows of all ranks. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_launched_merge(const tm_names *names, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Sets the shares. Keeps the 5000 rows of each level with the most time, and merges the level's
 * other rows into one. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_launched_order(tm_tables *out, tm_error *err) TM_MUST_CHECK;

#endif
