/* Makes instances of operations: groups the records of each operation. */
#ifndef TMERGE_INSTANCES_H
#define TMERGE_INSTANCES_H

#include "timeline/collectives.h"

/**
 * Sorts the records and makes an instance of the records with the same group, way and key. An
 * operation is complete if every member of its group has one kernel in it. It is suspect if a
 * member has two, or if members disagree in kind or size (except the sizes in an all-to-all, and
 * the kinds of a transfer's two ends). Waits are known if the operation is complete. They are also
 * known for a barrier that lacks ranks if a member stayed for at most TM_BARRIER_NS: this member
 * arrived last.
 *
 * @param collectives  its records; instances are appended
 * @return             TM_OK; TM_ERR_FAULT
 */
tm_status tm_match_instances(tm_collectives *collectives, tm_error *err) TM_MUST_CHECK;

#endif
