/* What `tmerge show STORE` prints: what the job is, what to do first, and which tables there are.
 */
#ifndef TMERGE_SHOW_OVERVIEW_H
#define TMERGE_SHOW_OVERVIEW_H

#include "console.h"
#include "tmerge/store.h"

/** @param tables  with all definitions, empty; some are filled. @param path  of the store */
tm_status tm_overview_print(const tm_store *store, tm_tables *tables, const char *path,
                            const tm_colors *colors, tm_error *err) TM_MUST_CHECK;

#endif
