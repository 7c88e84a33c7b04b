/* Which operators and code locations launched the GPU's events, by event and by operator. */
#ifndef TMERGE_LAUNCHED_H
#define TMERGE_LAUNCHED_H

#include "tmerge/analysis.h"

/** The shown table, and the internal part it is merged from. */
extern const tm_table_def tm_launched_table, tm_launched_part;

/* Text in place of an operator, or of both keys for the rows that a long table omits. */
#define TM_LAUNCHED_OUTSIDE "(outside of any operator)"
#define TM_LAUNCHED_UNKNOWN "(launch not recorded)"
#define TM_LAUNCHED_OTHERS "(all others)"

/** Adds a rank's rows. TM_OK; TM_ERR_FAULT. */
tm_status tm_launched_rows(const tm_rank_view *view, tm_tables *out, tm_error *err) TM_MUST_CHECK;

/** Merges the rows of all ranks. TM_OK; TM_ERR_FAULT. */
tm_status tm_launched_merge(const tm_names *names, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Sets the shares, keeps the 5000 rows of each level with most time and merges all others into one
 * row. TM_OK; TM_ERR_FAULT. */
tm_status tm_launched_order(tm_tables *out, tm_error *err) TM_MUST_CHECK;

#endif
