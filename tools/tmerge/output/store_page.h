/* Checks before a report page is written. */
#ifndef TMERGE_STORE_PAGE_H
#define TMERGE_STORE_PAGE_H

#include <stdbool.h>

#include "tmerge/status.h"

/** Checks that a page is built in. TM_OK; TM_ERR_USAGE if not. */
tm_status tm_page_built(tm_error *err) TM_MUST_CHECK;

/** Checks that the page can be written. TM_OK; TM_ERR_USAGE if no page is built in; TM_ERR_OUTPUT.
 */
tm_status tm_page_check(const char *path, bool force, tm_error *err) TM_MUST_CHECK;

#endif
