/* Traces of a job that are copies of one another. */
#ifndef TMERGE_TWINS_H
#define TMERGE_TWINS_H

#include "tmerge/table.h"

/** Warns of each trace whose file holds the same bytes as an earlier one's.
 * @param ranks  job.rank */
void tm_warn_of_twins(const tm_table *ranks);

#endif
