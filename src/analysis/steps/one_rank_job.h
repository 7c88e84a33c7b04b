/* Summary of a job of one rank: how its device spent its time, and why it idles. */
#ifndef TMERGE_ONE_RANK_JOB_H
#define TMERGE_ONE_RANK_JOB_H

#include <stdbool.h>

#include "tmerge/table.h"

enum { TM_ALONE_MAX = 768 };

/** Writes the headline of a job of one rank with device events, and its evidence ("" if none).
 * Returns false for any other job; both are empty. */
bool tm_alone_text(const tm_tables *tables, char headline[TM_ALONE_MAX],
                   char evidence[TM_ALONE_MAX]);

#endif
