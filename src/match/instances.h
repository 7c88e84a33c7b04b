/* Records of one operation brought together. */
#ifndef TMERGE_INSTANCES_H
#define TMERGE_INSTANCES_H

#include "timeline/collectives.h"

/**
 * Sorts the records and makes an instance of all that share group, way and key. An operation is
 * complete when every member of its group gave one kernel, and suspect when members contradict one
 * another in kind or size, or one gave two; all-to-alls may differ in size, the two ends of a
 * transfer in kind. Complete ones have waits, and a barrier that lacks ranks where one of those
 * that are there stayed for TM_BARRIER_NS at most: it was the last of all to come.
 *
 * @param collectives  its records; instances are added
 * @return             TM_OK; TM_ERR_FAULT
 */
tm_status tm_match_instances(tm_collectives *collectives, tm_error *err) TM_MUST_CHECK;

#endif
