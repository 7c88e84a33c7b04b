/* Tests the groups of a process one after another, and adds rows for the ranks that stand out. */
#ifndef TMERGE_COMPARED_H
#define TMERGE_COMPARED_H

#include "suspects.h"
#include "timeline/collectives.h"
#include "tmerge/table.h"

/** Internal tables that carry suspects and standings to the job part. */
extern const tm_table_def tm_compared_suspect, tm_compared_standing;

/** Tests the ranks of each role by their work in the replay, if there is a replay. Otherwise, tests
 * every group whose own times are known. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_compared_add(tm_tables *tables, const tm_collectives *own,
                          tm_error *err) TM_MUST_CHECK;

/** Reads a row of tm_compared_suspect. */
tm_suspect tm_compared_read(const tm_cell *row);

/** Reads a row of tm_compared_standing. */
tm_standing tm_compared_read_standing(const tm_cell *row);

#endif
