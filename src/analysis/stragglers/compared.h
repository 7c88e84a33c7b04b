/* The groups that a process owns, tested one by one; who stands out goes to the job in rows. */
#ifndef TMERGE_COMPARED_H
#define TMERGE_COMPARED_H

#include "suspects.h"
#include "timeline/collectives.h"
#include "tmerge/table.h"

/** Internal tables: suspects and standings on their way to the job. */
extern const tm_table_def tm_compared_suspect, tm_compared_standing;

/** Tests the ranks of each role by what the replay knows that they did themselves; without a replay
 * every group of which own times are known. TM_OK; TM_ERR_FAULT. */
tm_status tm_compared_add(tm_tables *tables, const tm_collectives *own,
                          tm_error *err) TM_MUST_CHECK;

/** A row of the first table. */
tm_suspect tm_compared_read(const tm_cell *row);

/** A row of the second. */
tm_standing tm_compared_read_standing(const tm_cell *row);

#endif
