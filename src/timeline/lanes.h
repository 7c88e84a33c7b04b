/* A rank's GPU time by kind of work, on the job's clock. */
#ifndef TMERGE_TIMELINE_LANES_H
#define TMERGE_TIMELINE_LANES_H

#include "base/intervals.h"
#include "tmerge/status.h"
#include "tmerge/timeline.h"

/** Kinds of work, each drawn in its own colour: compute and copies on the compute sub-track, the
 * others on the communication sub-track. */
typedef enum tm_lane_kind {
    TM_LANE_COMPUTE,   /* P: time in which the rank computes (union of its compute events) */
    TM_LANE_TRANSFER,  /* communication after the operation's last rank arrived */
    TM_LANE_WAIT,      /* communication before the operation's last rank arrived, without times in
                          which another operation of the rank transfers */
    TM_LANE_UNMATCHED, /* other communication, which may be wait or transfer; without the times of
                          known waits and transfers */
    TM_LANE_COPIES,    /* M \ P: time in which the rank copies but does not compute */
    TM_N_LANE_KINDS
} tm_lane_kind;

/** Intervals of one rank, on the job's clock [ns since the epoch]. Intervals of the same sub-track
 * do not overlap. */
typedef struct tm_lanes {
    tm_intervals kinds[TM_N_LANE_KINDS];
} tm_lanes;

/**
 * Computes the intervals of a rank.
 * @param timeline  a timeline whose waits are known
 * @param rows      the rank's events; NULL: they are in the timeline
 * @param out       free with tm_lanes_free in any case
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_lanes_make(const tm_timeline *timeline, const tm_event_rows *rows, tm_lanes *out,
                        tm_error *err) TM_MUST_CHECK;
void tm_lanes_free(tm_lanes *lanes);

#endif
