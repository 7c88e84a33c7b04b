/* HTML report: one self-contained file, made from a store's tables and, for the timeline, its
 * events. */
#ifndef TMERGE_REPORT_H
#define TMERGE_REPORT_H

#include <stdbool.h>

#include "tmerge/status.h"
#include "tmerge/store.h"
#include "tmerge/table.h"

/** Returns whether the page was built in; false if tmerge was configured with TMERGE_REPORT=OFF. */
bool tm_report_is_built(void);

/** Returns whether a file is a page written by tmerge; false also if it cannot be read. */
bool tm_report_is_page(const char *path);

/**
 * Writes the report of a store. The same store gives the same page, byte for byte. For a store that
 * `tmerge hang` wrote without traces, the page has only its findings.
 * @param path     the page, which appears under this name only when complete
 * @param version  of the tool
 * @return         TM_OK; TM_ERR_INPUT: the store is damaged; TM_ERR_OUTPUT; TM_ERR_FAULT, also if
 *                 no page is built in
 */
tm_status tm_report_write(const tm_store *store, const char *path, const char *version,
                          tm_error *err) TM_MUST_CHECK;

/**
 * Writes the page that compares two jobs.
 * @param found  from tm_diff_compare
 */
tm_status tm_report_write_diff(const tm_tables *found, const char *path, const char *version,
                               tm_error *err) TM_MUST_CHECK;

#endif
