/* Makes instances of operations: groups the records that belong to one operation. */
#ifndef TMERGE_INSTANCES_H
#define TMERGE_INSTANCES_H

#include "timeline/collectives.h"

/**
 * Sorts the records and makes an instance of all that share group, way and key. An operation is
 * complete if every member of its group contributed one kernel. It is suspect if members disagree
 * in kind or size, or one contributed two kernels; all-to-alls may differ in size, and the two ends
 * of a transfer in kind. Waits are known for complete operations. They are also known for a barrier
 * that lacks ranks, if one of its members stayed for at most TM_BARRIER_NS: that member arrived
 * last.
 *
 * @param collectives  its records; instances are appended
 * @return             TM_OK; TM_ERR_FAULT
 */
tm_status tm_match_instances(tm_collectives *collectives, tm_error *err) TM_MUST_CHECK;

#endif
