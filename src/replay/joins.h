/* The operations that join ranks, as those that hold their members want to know them. */
#ifndef TMERGE_REPLAY_JOINS_H
#define TMERGE_REPLAY_JOINS_H

#include "build.h"
#include "timeline/collectives.h"

/**
 * Adds a tm_replay_visit for each member of the operations that this process matched and that join
 * ranks. What is usual of a transfer is the median over its operations of one kind, group and size.
 *
 * @param root_ns  what times count from
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_joins_visits(const tm_collectives *collectives, int64_t root_ns, tm_vec *visits,
                          tm_error *err) TM_MUST_CHECK;

/** Sorts visits by rank, event and operation. */
void tm_joins_sort(tm_vec *visits);

#endif
