/* What the host did while the GPU was idle. */
#ifndef TMERGE_GAP_HOST_H
#define TMERGE_GAP_HOST_H

#include "analysis/shared/gaps.h"

/** What the host thread that launched the event after a gap did during the gap. */
typedef struct tm_gap_host {
    int64_t longest_ns; /* time in calls of the name `longest`; 0 if the thread was in no recorded
                           call */
    int64_t unrecorded_ns; /* time outside of all recorded calls */
    /* name id of the calls that took longest in total, counting innermost calls */
    uint32_t longest;
    bool known; /* whether the thread is known, because the launch of the next event is */
} tm_gap_host;

/**
 * For each gap, finds the calls during it on the thread that launched the event after it. Walks
 * each thread once.
 *
 * @param gaps  [n] ascending, without overlap
 * @param out   [n] set only on TM_OK
 * @return      TM_OK; TM_ERR_FAULT
 */
tm_status tm_gap_hosts(const tm_rank_view *view, const tm_gap *gaps, size_t n, tm_gap_host *out,
                       tm_error *err) TM_MUST_CHECK;

/** Returns the row of a GPU event that ends where the gap starts; TM_NO_EVENT if there is none. */
uint32_t tm_gap_last_event(const tm_timeline *timeline, const tm_gap *gap);

#endif
