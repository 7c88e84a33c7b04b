/* The HTML report: one file that opens anywhere and loads nothing, made from the tables of a store
 * and, for the timeline, from its events. */
#ifndef TMERGE_REPORT_H
#define TMERGE_REPORT_H

#include <stdbool.h>

#include "tmerge/status.h"
#include "tmerge/store.h"
#include "tmerge/table.h"

/** Whether the page was built in: false where tmerge was configured with TMERGE_REPORT=OFF. */
bool tm_report_is_built(void);

/** Whether a file is a page that tmerge wrote; false also where it cannot be read. */
bool tm_report_is_page(const char *path);

/**
 * Writes the report of a store. The same store gives the same page, to the byte.
 *
 * @param path     the page: complete under this name, or not there
 * @param version  of the tool
 * @return         TM_OK; TM_ERR_INPUT: the store is damaged; TM_ERR_OUTPUT; TM_ERR_FAULT, also
 * where no page is built in
 */
tm_status tm_report_write(const tm_store *store, const char *path, const char *version,
                          tm_error *err) TM_MUST_CHECK;

/**
 * Writes the page that compares two jobs.
 *
 * @param found  of tm_diff_compare
 */
tm_status tm_report_write_diff(const tm_tables *found, const char *path, const char *version,
                               tm_error *err) TM_MUST_CHECK;

#endif
