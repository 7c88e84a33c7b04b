/* The tables of two stores that are compared. */
#ifndef TMERGE_SIDES_H
#define TMERGE_SIDES_H

#include <stdbool.h>

#include "tmerge/table.h"

/**
 * Reads what tmerge diff looks at. A store that an older tmerge wrote may lack a table, which is
 * empty.
 * @param paths  [2]
 * @param out    destroyed by the caller; set only on TM_OK
 * @return       TM_OK; TM_ERR_INPUT, TM_ERR_FAULT
 */
tm_status tm_sides_read(char *const *paths, tm_tables out[2], tm_error *err) TM_MUST_CHECK;
void tm_sides_destroy(tm_tables sides[2]);

/** The same of one store, into empty tables of tm_analysis_tables. */
tm_status tm_side_read(const char *path, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Prints what comes of comparing them for programs: as JSON, else, of one table, CSV. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_sides_print(const tm_tables *found, bool json, tm_error *err) TM_MUST_CHECK;

/** The same as files of a folder. TM_OK; TM_ERR_OUTPUT; TM_ERR_FAULT. */
tm_status tm_sides_write(const tm_tables *found, const char *folder, tm_error *err) TM_MUST_CHECK;

#endif
