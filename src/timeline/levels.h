/* The timeline of a rank from afar: its time in buckets of powers of two, for who draws it without
 * reading its events. */
#ifndef TMERGE_LEVELS_H
#define TMERGE_LEVELS_H

#include "timeline/lanes.h"
#include "tmerge/status.h"
#include "tmerge/timeline.h"

/** What a level's rows of a kind of lane are of. */
static inline tm_level_lane tm_level_lane_of(tm_lane_kind kind) {
    static const tm_level_lane of_kind[TM_N_LANE_KINDS] = {
        [TM_LANE_COMPUTE] = TM_LEVEL_COMPUTE, [TM_LANE_TRANSFER] = TM_LEVEL_TRANSFER,
        [TM_LANE_WAIT] = TM_LEVEL_WAIT,       [TM_LANE_UNMATCHED] = TM_LEVEL_UNMATCHED,
        [TM_LANE_COPIES] = TM_LEVEL_COPIES,
    };
    return of_kind[kind];
}

/** Takes the rows of the next level. */
typedef struct tm_level_sink {
    tm_status (*take)(void *context, const tm_level *rows, size_t n, tm_error *err);
    void *context;
} tm_level_sink;

/**
 * Makes the levels of a timeline, of which one is in memory at a time.
 *
 * The finest level has at most one row for each TM_LEVEL_EVENTS events of the rank, and one more;
 * each further one joins pairs of buckets, up to the one at which no lane has more than two rows,
 * for a power of two may lie within the job. Rows stand level by level, the finest first, lane by
 * lane, ascending in begin. Of a lane each level sums to the same.
 *
 * @param timeline  its clock and its waits are known
 * @param rows      its events; NULL: the timeline has them
 * @param finest    the exponent of the finest level; -1: as above, by how many events there are
 * @return          TM_OK; TM_ERR_FAULT where memory is out; what the sink returned
 */
tm_status tm_levels_each(const tm_timeline *timeline, const tm_event_rows *rows, int finest,
                         const tm_level_sink *sink, tm_error *err) TM_MUST_CHECK;

/** Fills in the levels of a timeline that has its events: those that it had are gone. TM_OK;
 * TM_ERR_FAULT where memory is out, and the timeline has no levels. */
tm_status tm_levels_make(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

#endif
