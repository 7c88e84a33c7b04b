/* Who waited for whom in every operation, as an answer for each of its kernels. */
#ifndef TMERGE_ANSWERS_H
#define TMERGE_ANSWERS_H

#include "timeline/collectives.h"

/** An answer on its way to the process that holds the rank. Sent as bytes. */
typedef struct tm_answer_reply {
    tm_comm_answer answer;
    int64_t rank;
    uint32_t event, first_event;
    int32_t first_rank; /* with first_event its operation */
    int32_t origin;     /* the process */
} tm_answer_reply;

/**
 * Splits the waits of all operations (waits/blame.h).
 *
 * @param wants_pairs  whether the same waits are kept by pairs of ranks
 * @param replies      of tm_answer_reply, appended to: one for each kernel of an operation
 * @param pairs        of tm_pair, appended to, in no order
 * @return             TM_OK; TM_ERR_FAULT where memory is out
 */
tm_status tm_answers_find(const tm_collectives *collectives, bool wants_pairs, tm_vec *replies,
                          tm_vec *pairs, tm_error *err) TM_MUST_CHECK;

/** Gives a timeline's communication kernels the answer that they belong to no operation.
 * TM_OK; TM_ERR_FAULT where memory is out. */
tm_status tm_answers_clear(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

/** Sets an answer. @param timelines  [n] ascending in rank, cleared, the reply's among them */
void tm_answers_set(tm_timeline *timelines, size_t n, const tm_answer_reply *reply);

#endif
