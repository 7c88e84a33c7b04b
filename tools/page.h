/* Where a report page is written. */
#ifndef TMERGE_PAGE_H
#define TMERGE_PAGE_H

#include <stdbool.h>

#include "tmerge/status.h"

/** The page of a store, beside it: its path with .html in place of .h5. malloc'ed, freed by the
 * caller; NULL where memory is out. */
char *tm_page_path(const char *store);

/** TM_OK; TM_ERR_USAGE where no page is built in. */
tm_status tm_page_built(tm_error *err) TM_MUST_CHECK;

/** Whether the page can be written there: TM_OK; TM_ERR_USAGE where none is built in;
 * TM_ERR_OUTPUT. */
tm_status tm_page_check(const char *path, bool force, tm_error *err) TM_MUST_CHECK;

#endif
