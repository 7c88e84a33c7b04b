/* Overview levels of a rank's timeline: activity in power-of-two buckets of time, to draw the
 * timeline without its events. */
#ifndef TMERGE_LEVELS_H
#define TMERGE_LEVELS_H

#include "timeline/lanes.h"
#include "tmerge/status.h"
#include "tmerge/timeline.h"

/** Returns the level's sub-track for a kind of work. */
static inline tm_level_lane tm_level_lane_of(tm_lane_kind kind) {
    static const tm_level_lane of_kind[TM_N_LANE_KINDS] = {
        [TM_LANE_COMPUTE] = TM_LEVEL_COMPUTE, [TM_LANE_TRANSFER] = TM_LEVEL_TRANSFER,
        [TM_LANE_WAIT] = TM_LEVEL_WAIT,       [TM_LANE_UNMATCHED] = TM_LEVEL_UNMATCHED,
        [TM_LANE_COPIES] = TM_LEVEL_COPIES,
    };
    return of_kind[kind];
}

/** Receives the rows of one level after another. */
typedef struct tm_level_sink {
    tm_status (*take)(void *context, const tm_level *rows, size_t n, tm_error *err);
    void *context;
} tm_level_sink;

/**
 * Computes the levels of a timeline. Only one level is in memory at a time.
 *
 * In the finest level, the sub-tracks together have at most 1 + (number of the rank's events) /
 * TM_LEVEL_EVENTS rows, or no sub-track has more than two rows. Each further level joins pairs of
 * buckets, until no sub-track has more than two rows. (Two rows may remain, because the border of
 * two buckets may lie within the job.) The finest level comes first. The rows of a level are sorted
 * by sub-track, then by begin. All levels of a sub-track have the same sum.
 *
 * @param timeline  a timeline whose clock and waits are known
 * @param rows      the rank's events; NULL: they are in the timeline
 * @param finest    exponent of the finest level, which is raised if it would need too much memory;
 *                  -1: the exponent depends on the number of events, as described above
 * @return          TM_OK; TM_ERR_FAULT if out of memory; the status of a failed sink
 */
tm_status tm_levels_each(const tm_timeline *timeline, const tm_event_rows *rows, int finest,
                         const tm_level_sink *sink, tm_error *err) TM_MUST_CHECK;

/** Replaces the levels of a timeline that has its events.
 * @return  TM_OK; TM_ERR_FAULT: out of memory, and the timeline has no levels */
tm_status tm_levels_make(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

#endif
