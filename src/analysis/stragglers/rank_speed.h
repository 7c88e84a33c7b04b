/* Compute speed of each rank relative to the other ranks. */
#ifndef TMERGE_RANK_SPEED_H
#define TMERGE_RANK_SPEED_H

#include "tmerge/table.h"

/**
 * Sets the relative speed of every rank: the median over steps of (median compute_ns of all ranks /
 * the rank's compute_ns). The speed is null if the rank computed in no step.
 * @param tables  must have overlap.step
 * @param ranks   rows sorted by rank, which is the first column
 * @param column  receives the speed
 */
tm_status tm_rank_speeds(const tm_tables *tables, tm_table *ranks, int column,
                         tm_error *err) TM_MUST_CHECK;

#endif
