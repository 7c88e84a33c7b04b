/* Finds traces of a job that are copies of another trace. */
#ifndef TMERGE_DUPLICATES_H
#define TMERGE_DUPLICATES_H

#include "tmerge/table.h"

/** Warns of each trace whose file has the same bytes as an earlier one.
 * @param ranks  job.rank */
void tm_warn_of_duplicates(const tm_table *ranks);

#endif
