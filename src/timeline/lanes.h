/* What a rank's GPU did when: its time by kind of work, on the job's clock. */
#ifndef TMERGE_TIMELINE_LANES_H
#define TMERGE_TIMELINE_LANES_H

#include "base/intervals.h"
#include "tmerge/status.h"
#include "tmerge/timeline.h"

/** What is drawn in one colour. Compute and copies are of the compute lane, the others of the
 * communication lane. */
typedef enum tm_lane_kind {
    TM_LANE_COMPUTE,   /* P */
    TM_LANE_TRANSFER,  /* communication after its last rank came */
    TM_LANE_WAIT,      /* before; not where another operation transfers */
    TM_LANE_UNMATCHED, /* communication without wait and transfer, where no other one has them */
    TM_LANE_COPIES,    /* M \ P */
    TM_N_LANE_KINDS
} tm_lane_kind;

/** Intervals of one rank [ns since the epoch, on the job's clock], those of one lane disjoint. */
typedef struct tm_lanes {
    tm_intervals kinds[TM_N_LANE_KINDS];
} tm_lanes;

/**
 * @param timeline  whose attrs have the waits
 * @param rows      its events; NULL: the timeline has them
 * @param out       freed by tm_lanes_free whatever comes of it
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_lanes_make(const tm_timeline *timeline, const tm_event_rows *rows, tm_lanes *out,
                        tm_error *err) TM_MUST_CHECK;
void tm_lanes_free(tm_lanes *lanes);

#endif
