/* Writes the findings about a stuck job as rows and sentences. */
#ifndef TMERGE_HANG_SAY_H
#define TMERGE_HANG_SAY_H

#include "causes.h"

/** Adds the rows of hang.job, hang.collective and hang.rank. */
tm_status tm_hang_say(const tm_hang_world *world, const tm_hang_causes *causes, tm_tables *out,
                      tm_error *err) TM_MUST_CHECK;

#endif
