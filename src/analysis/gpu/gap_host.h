/* Finds what the host did while the GPU was idle. */
#ifndef TMERGE_GAP_HOST_H
#define TMERGE_GAP_HOST_H

#include "analysis/shared/gaps.h"

/** What the host did during a gap. Only one thread counts, the thread that kept the GPU idle: it
 * enqueued or launched the event after the gap. */
typedef struct tm_gap_host {
    int64_t longest_ns; /* time in calls named `longest`; 0 if the thread was in no recorded call */
    int64_t unrecorded_ns; /* time outside of recorded calls */
    /* name id with the most total time in innermost calls */
    uint32_t longest;
    bool known; /* whether the thread is known: false if the launch of the next event is unknown */
} tm_gap_host;

/**
 * Finds what the host thread did in each gap. Walks each thread once.
 *
 * @param gaps  [n] ascending, without overlap
 * @param out   [n] set only on TM_OK
 * @return      TM_OK; TM_ERR_FAULT
 */
tm_status tm_gap_hosts(const tm_rank_view *view, const tm_gap *gaps, size_t n, tm_gap_host *out,
                       tm_error *err) TM_MUST_CHECK;

/** Returns the row of a GPU event that ends at the start of the gap; TM_NO_EVENT if there is none.
 */
uint32_t tm_gap_last_event(const tm_timeline *timeline, const tm_gap *gap);

#endif
