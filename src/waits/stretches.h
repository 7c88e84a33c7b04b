/* What each rank did by itself between the points where its group could be compared: what tells a
 * rank that is slow from one that others kept waiting.
 *
 * A meeting is an operation inside which no member computes: none has a compute kernel that begins
 * behind the operation's begin on its rank and ends 1 us or more before its end, and none of
 * another stream that runs 1 us before its end. (A kernel of the same stream that was launched
 * early begins before the end, but cannot end.) The arrival of a member is the begin of its kernel,
 * unless the kernel of some member follows another communication kernel of its stream within 5 us:
 * then that began when the stream was free, and not when its rank was there. At a meeting the
 * arrival of each member is then the end of the last compute kernel before its begin; else, and
 * where what a member computes is not recorded, it is not known. A stretch of a group runs from one
 * known arrival, or from the end of a meeting, to the next known arrival. A rank's own time is its
 * length on the rank's own clock, less the waits in operations of other groups inside of it that
 * kept it from computing. It needs no clock fit; of operations that computation runs beside it is
 * the lateness gained since the one before, not its running sum. */
#ifndef TMERGE_STRETCHES_H
#define TMERGE_STRETCHES_H

#include "delay.h"

/**
 * Sets `follows`, `computes`, `done_ns` and `host` of a rank's visits.
 * @param visits  [n] of this rank, in any order
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_stretches_look(const tm_timeline *timeline, tm_visit *visits, size_t n,
                            tm_error *err) TM_MUST_CHECK;

/** Sets `arrival` and `meets` of all visits, which are those of tm_delay_visits with what
 * tm_stretches_look set. */
void tm_stretches_agree(const tm_collectives *collectives, tm_visit *visits);

/** Adds the own times of the operations of which every member has one.
 * @param visits  as above, with own_ns set  @param out  of tm_own_time
 * @return        TM_OK; TM_ERR_FAULT */
tm_status tm_stretches_take(const tm_collectives *collectives, const tm_visit *visits, tm_vec *out,
                            tm_error *err) TM_MUST_CHECK;

/** Sorts own times by group, then time, then rank. @return  members of all groups */
int64_t tm_stretches_sort(tm_vec *own_times);

#endif
