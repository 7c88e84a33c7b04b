/* Makes instances of operations: groups the records of each operation. */
#ifndef TMERGE_INSTANCES_H
#define TMERGE_INSTANCES_H

#include "timeline/collectives.h"

/**
 * Sorts the records, and makes an instance from all records that have the same `group`, `way` and
 * `key`. The following holds for the instance of an operation:
 * - It is complete if every member of the group has exactly one kernel in it.
 * - It is suspect if a member has two kernels, or if members disagree in kind or size. Two
 *   disagreements are normal: the sizes in an all-to-all, and the kinds of a transfer's two ends.
 * - Waits are known if it is complete and its members wait for each other. They are also known for
 *   an incomplete barrier in which a member stayed for at most TM_BARRIER_NS, because this member
 *   must have arrived last.
 *
 * @param collectives  contains the records; instances are appended
 * @return             TM_OK; TM_ERR_FAULT
 */
tm_status tm_match_instances(tm_collectives *collectives, tm_error *err) TM_MUST_CHECK;

/**
 * Returns whether the kernels of a complete operation with a root (such as a broadcast) show that
 * all members waited for the last arrival. A rank may leave such an operation before others
 * arrive, and the traces do not name the root. Two things must hold:
 * - No member leaves before the last one has certainly arrived.
 * - In sum, the other members' kernels are longer than the last one's by at least half the time
 *   that these members came earlier. If they had not waited, all kernels would be equally long.
 *
 * @param members  [instance->n] the operation's records, on the job's clock
 */
bool tm_instance_met(const tm_instance *instance, const tm_comm_record *members);

#endif
