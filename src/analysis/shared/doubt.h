/* Decides from job.integrity whether the recording is complete enough for conclusions. */
#ifndef TMERGE_DOUBT_H
#define TMERGE_DOUBT_H

#include "tmerge/table.h"

enum { TM_DOUBT_TEXT = 640 };

/** Returns whether too much is in doubt for conclusions about the job: the means over ranks may be
 * off by more than 5 %, or the figures of more than one rank in twenty may be. */
bool tm_doubt_of_job(const tm_tables *tables);

/** Returns whether the figures of a rank may be off by more than 5 %. */
bool tm_doubt_of_rank(const tm_tables *tables, int64_t rank);

/** Returns whether the figures of any rank may be off by more than 5 %. */
bool tm_doubt_of_any(const tm_tables *tables);

/** Returns whether more than 5 % of the time between the job's first and last recorded GPU events
 * is in doubt. If so, no rank is named for making others wait. */
bool tm_doubt_between(const tm_tables *tables);

/** Returns whether more than 5 % of the time between a rank's first and last recorded GPU events is
 * in doubt. */
bool tm_doubt_between_of_rank(const tm_tables *tables, int64_t rank);

/** Returns whether the trace of the rank whose figures may be off most is cut short. */
bool tm_doubt_is_cut(const tm_tables *tables);

/**
 * Writes what is missing or impossible in the recording of the rank whose figures may be off most:
 * "kernels of 30 of 32 steps were not recorded (240 of 256 launches have no kernel)".
 * @return false if all figures are off by less than 1 %; then @p out is not written
 */
bool tm_doubt_text(const tm_tables *tables, char out[TM_DOUBT_TEXT]);

/** Writes a sentence for the top of a screen or page: the clause of tm_doubt_text, and its
 * consequences. */
bool tm_doubt_line(const tm_tables *tables, char out[TM_DOUBT_TEXT]);

#endif
