/* Makes answers from the waits of all operations: one for each communication kernel. */
#ifndef TMERGE_ANSWERS_H
#define TMERGE_ANSWERS_H

#include "timeline/collectives.h"

/** An answer sent to the process that holds the rank. Sent as bytes. */
typedef struct tm_answer_reply {
    tm_comm_answer answer;
    int64_t rank;
    uint32_t event, first_event;
    int32_t first_rank; /* with first_event: identifies the operation */
    int32_t origin;     /* process that holds the rank */
} tm_answer_reply;

/**
 * Splits the waits of all operations (waits/blame.h).
 *
 * @param wants_pairs  whether to sum the waits by pair of ranks, too
 * @param replies      of tm_answer_reply, appended to: one for each kernel of an operation
 * @param pairs        of tm_pair, appended to, in no order
 * @return             TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_answers_find(const tm_collectives *collectives, bool wants_pairs, tm_vec *replies,
                          tm_vec *pairs, tm_error *err) TM_MUST_CHECK;

/** Marks all communication kernels of a timeline as belonging to no operation. TM_OK; TM_ERR_FAULT
 * when out of memory. */
tm_status tm_answers_clear(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

/** Stores an answer in its rank's timeline.
 * @param timelines  [n] ascending in rank; tm_answers_clear was called */
void tm_answers_set(tm_timeline *timelines, size_t n, const tm_answer_reply *reply);

#endif
