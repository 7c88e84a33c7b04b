/* The first screen after a merge. */
#ifndef TMERGE_SUMMARY_H
#define TMERGE_SUMMARY_H

#include "console.h"
#include "mpi/load.h"
#include "tmerge/table.h"

/** Prints the summary of a job to standard output. @p store is the path of the store. */
tm_status tm_summary_print(const tm_tables *tables, const tm_loaded *loaded, const char *store,
                           const tm_colors *colors, tm_error *err) TM_MUST_CHECK;

#endif
