/* Path of a report page, and checks before it is written. */
#ifndef TMERGE_STORE_PAGE_H
#define TMERGE_STORE_PAGE_H

#include <stdbool.h>

#include "tmerge/status.h"

/** Returns the path of a store's page: a.h5 -> a.html. The caller frees it; NULL when out of
 * memory. */
char *tm_page_path(const char *store);

/** Checks that a page is built in. TM_OK; TM_ERR_USAGE if not. */
tm_status tm_page_built(tm_error *err) TM_MUST_CHECK;

/** Checks that the page can be written. TM_OK; TM_ERR_USAGE if no page is built in; TM_ERR_OUTPUT.
 */
tm_status tm_page_check(const char *path, bool force, tm_error *err) TM_MUST_CHECK;

#endif
