/* Splits the waits of all operations, and stores the results for each communication kernel
 * (tm_comm_answer) in the timeline of its rank. */
#ifndef TMERGE_ANSWERS_H
#define TMERGE_ANSWERS_H

#include "timeline/collectives.h"

/** Results for one kernel, sent as bytes to the process that holds the kernel's rank. */
typedef struct tm_answer_reply {
    tm_comm_answer answer;
    int64_t rank;
    uint32_t event, first_event;
    int32_t first_rank; /* lowest rank of the operation. first_event is the row of this rank's
                           kernel */
    int32_t origin;     /* process that holds the rank */
} tm_answer_reply;

/**
 * Splits the waits of all operations (waits/blame.h).
 *
 * @param wants_pairs  true: also sums the waits of each pair of ranks
 * @param replies      vector of tm_answer_reply: one is appended for each kernel of each operation
 * @param pairs        vector of tm_pair: the sums are appended, in no particular order
 * @return             TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_answers_find(const tm_collectives *collectives, bool wants_pairs, tm_vec *replies,
                          tm_vec *pairs, tm_error *err) TM_MUST_CHECK;

/** Sets the results of all communication kernels of a timeline to those of an unmatched kernel.
 * TM_OK; TM_ERR_FAULT when out of memory. */
tm_status tm_answers_clear(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

/** Stores the results for one kernel in the timeline of its rank.
 * @param timelines  [n] ascending by rank, after tm_answers_clear */
void tm_answers_set(tm_timeline *timelines, size_t n, const tm_answer_reply *reply);

#endif
