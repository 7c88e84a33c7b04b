/* The own time of each rank: how long the rank needed between two points at which the ranks of its
 * group can be compared. It distinguishes a slow rank from a rank that had to wait for others.
 *
 * A meeting is an operation inside which no member computes. A member computes inside an operation
 * if one of these is true on its rank:
 * - a compute kernel starts after the operation's start, and ends 1 us or more before the
 *   operation's end;
 * - a compute kernel of another stream still runs 1 us before the operation's end. (A compute
 *   kernel of the same stream that was launched early may start before the operation's end, but
 *   cannot end before it.)
 *
 * Usually, a member arrives when its kernel starts. But if the kernel follows another communication
 * kernel of its stream within 5 us, it started when the stream was free, not when the rank arrived.
 * If any member of an operation has such a kernel, arrivals are defined differently for all
 * members. At a meeting, a member then arrives at the end of its last compute kernel before the
 * operation. At other operations, arrivals are then unknown. They are also unknown if the
 * computation of a member is not recorded.
 *
 * A stretch of a group starts at a known arrival or at the end of a meeting, and ends at the next
 * known arrival. A rank's own time is the length of the stretch on the rank's own clock. Waits in
 * other groups that kept the rank from computing during the stretch are subtracted. The own time
 * does not depend on the fit of clocks. If operations overlap with computation, differences of own
 * times are the lateness gained since the previous operation, not the accumulated lateness. */
#ifndef TMERGE_STRETCHES_H
#define TMERGE_STRETCHES_H

#include "delay.h"

/**
 * Sets `follows`, `computes`, `done_ns` and `host` of a rank's participations.
 * @param participants  [n] of this rank, in any order
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_stretches_look(const tm_timeline *timeline, tm_participant *participants, size_t n,
                            tm_error *err) TM_MUST_CHECK;

/** Sets `arrival` and `meets` in the participations of tm_delay_participants. Call
 * tm_stretches_look for them before. */
void tm_stretches_agree(const tm_collectives *collectives, tm_participant *participants);

/** Appends a tm_own_time for each member of each operation in which all members have an own time.
 * @param participants  the participations that tm_delay_participants made; own_ns must be set
 * @return        TM_OK; TM_ERR_FAULT */
tm_status tm_stretches_take(const tm_collectives *collectives, const tm_participant *participants,
                            tm_vec *out, tm_error *err) TM_MUST_CHECK;

/** Sorts own times by group, time and rank. Returns the total number of members of all groups. */
int64_t tm_stretches_sort(tm_vec *own_times);

#endif
