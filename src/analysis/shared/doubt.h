/* Whether figures may be concluded from, by what the recording lacks: job.integrity. */
#ifndef TMERGE_DOUBT_H
#define TMERGE_DOUBT_H

#include "tmerge/table.h"

enum { TM_DOUBT_TEXT = 640 };

/** Whether figures of the whole job could be off by more than 5 %, or those of more than one rank
 * in twenty: nothing is concluded from them. */
bool tm_doubt_of_job(const tm_tables *tables);

/** Whether figures of a rank could be off by more than 5 %. */
bool tm_doubt_of_rank(const tm_tables *tables, int64_t rank);

/** The same of any rank. */
bool tm_doubt_of_any(const tm_tables *tables);

/** Whether more than 5 % is in doubt of what lies between recorded work of the whole job: who made
 * others wait there is not said. */
bool tm_doubt_between(const tm_tables *tables);

/** The same of one rank. */
bool tm_doubt_between_of_rank(const tm_tables *tables, int64_t rank);

/**
 * Says what is missing or cannot be, of the rank where figures could be off most: a clause such as
 * "kernels of 30 of 32 steps were not recorded (240 of 256 launches have no kernel)".
 *
 * @return  false where no figure could be off by 1 %; nothing is written then
 */
bool tm_doubt_text(const tm_tables *tables, char out[TM_DOUBT_TEXT]);

/** The same as a sentence for the head of a screen or page, with what follows of it. */
bool tm_doubt_line(const tm_tables *tables, char out[TM_DOUBT_TEXT]);

#endif
