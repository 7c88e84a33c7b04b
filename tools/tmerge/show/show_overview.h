/* Output of `tmerge show STORE`: the job, what to do first, and the list of tables. */
#ifndef TMERGE_SHOW_SHOW_OVERVIEW_H
#define TMERGE_SHOW_SHOW_OVERVIEW_H

#include "output/console.h"
#include "tmerge/store.h"

/** Prints the overview.
 * @param tables all tables, empty; the function fills those it needs
 * @param path    of the store */
tm_status tm_overview_print(const tm_store *store, tm_tables *tables, const char *path,
                            const tm_colors *colors, tm_error *err) TM_MUST_CHECK;

#endif
