/* Compute speed of each rank relative to the others. */
#ifndef TMERGE_RANK_SPEED_H
#define TMERGE_RANK_SPEED_H

#include "tmerge/table.h"

/**
 * Sets every rank's relative speed: the median over its steps of the ranks' median compute_ns in
 * that step / its own; null if it computed in no step.
 *
 * @param tables  with overlap.step
 * @param ranks   rows ascending by rank, whose first column is the rank
 * @param column  receives the speed
 */
tm_status tm_rank_speeds(const tm_tables *tables, tm_table *ranks, int column,
                         tm_error *err) TM_MUST_CHECK;

#endif
