/* Summary of a job with one rank: how its device spends its time, and why it idles. */
#ifndef TMERGE_ONE_RANK_JOB_H
#define TMERGE_ONE_RANK_JOB_H

#include <stdbool.h>

#include "tmerge/table.h"

enum { TM_ALONE_MAX = 768 };

/** Writes the headline and the evidence of a job that has one rank with device events. The evidence
 * is "" if there is none. For other jobs, writes "" to both, and returns false. */
bool tm_alone_text(const tm_tables *tables, char headline[TM_ALONE_MAX],
                   char evidence[TM_ALONE_MAX]);

#endif
