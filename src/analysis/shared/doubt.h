/* Decides from job.integrity whether the recording is complete enough to draw conclusions. */
#ifndef TMERGE_DOUBT_H
#define TMERGE_DOUBT_H

#include "tmerge/table.h"

enum { TM_DOUBT_TEXT = 640 };

/** Returns whether no conclusions about the job can be drawn, because its figures, or those of more
 * than one rank in twenty, could be off by more than 5 %. */
bool tm_doubt_of_job(const tm_tables *tables);

/** Returns whether the figures of a rank could be off by more than 5 %. */
bool tm_doubt_of_rank(const tm_tables *tables, int64_t rank);

/** Returns whether the figures of any rank could be off by more than 5 %. */
bool tm_doubt_of_any(const tm_tables *tables);

/** Returns whether the time between the job's recorded GPU events is in doubt by more than 5 %.
 * If so, no rank is named for making others wait. */
bool tm_doubt_between(const tm_tables *tables);

/** Returns whether the time between the recorded GPU events of one rank is in doubt by more than 5
 * %. */
bool tm_doubt_between_of_rank(const tm_tables *tables, int64_t rank);

/**
 * Describes what is missing or impossible on the rank whose figures could be off most, as a clause
 * such as "kernels of 30 of 32 steps were not recorded (240 of 256 launches have no kernel)".
 *
 * @return  false if no figure could be off by 1 % or more; @p out is then not written
 */
bool tm_doubt_text(const tm_tables *tables, char out[TM_DOUBT_TEXT]);

/** Writes the same with its consequences, as a sentence for the head of a screen or page. */
bool tm_doubt_line(const tm_tables *tables, char out[TM_DOUBT_TEXT]);

#endif
