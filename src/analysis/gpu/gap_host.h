/* What the host did while the GPU was idle. */
#ifndef TMERGE_GAP_HOST_H
#define TMERGE_GAP_HOST_H

#include "analysis/shared/gaps.h"

/** What the thread that ended a gap did during it. */
typedef struct tm_gap_host {
    int64_t longest_ns;    /* 0 if the thread was in no recorded call */
    int64_t unrecorded_ns; /* time in no recorded call */
    uint32_t longest;      /* name id of the innermost calls that took longest in total */
    bool known;            /* whether the launch of the next event, and so the thread, is known */
} tm_gap_host;

/**
 * Finds the calls, during each gap, of the thread that launched the event after it. Walks each
 * thread once.
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
