/* Writes the findings about a stuck job. */
#ifndef TMERGE_HANG_SENTENCES_H
#define TMERGE_HANG_SENTENCES_H

#include "causes.h"
#include "hang_words.h"

/** Adds the rows of hang.job, hang.collective and hang.rank. */
tm_status tm_hang_say(const tm_hang_world *world, const tm_hang_causes *causes, tm_tables *out,
                      tm_error *err) TM_MUST_CHECK;

/** Writes the report of NCCL's RAS. Writes nothing if no answer of RAS was read.
 * @param alone    whether there are no dumps
 * @param finding  receives the finding, such as "Dead: rank 2 (process 7 on 10.0.0.2, GPU 2)"
 * @param answer   receives the basis of the finding. If there are dumps, it also receives the
 *                 finding, and whether the dumps agree.
 * @return         false if out of memory */
bool tm_hang_say_ras(const tm_hang_world *world, bool alone, tm_hang_words *finding,
                     tm_hang_words *answer);

#endif
