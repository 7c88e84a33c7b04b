/* The first pass over the ranks for a page's timeline. Either one process scans all ranks, or
 * each process scans its own ranks and the scans are joined. */
#ifndef TMERGE_REPORT_TIMELINE_SCAN_H
#define TMERGE_REPORT_TIMELINE_SCAN_H

#include "timeline_coverage.h"
#include "timeline_events.h"

/** Input of the scan, the same for all ranks. */
typedef struct tm_page_frame {
    const tm_names *names;     /* borrowed */
    const tm_page_kept *ranks; /* ranks that have lanes; NULL: all ranks; borrowed */
    const int64_t *from_0;     /* [n_from_0] ascending; borrowed. The times of these ranks count
                                  from 0, although the job has absolute times */
    size_t n_from_0;
    tm_buckets lanes, strip;
    bool steps; /* parts are steps */
} tm_page_frame;

typedef struct tm_scan {
    tm_plan plan;
    tm_operations operations;
    tm_bytes coverage;   /* encoded coverage of each rank with lanes, ascending by rank */
    int64_t *strip_sums; /* owned; [TM_N_LANE_KINDS * strip.n] sums of tm_strip_add */
} tm_scan;

/** Starts a scan. TM_OK; TM_ERR_FAULT.
 * @param out  freed by tm_scan_free, also after a failure */
tm_status tm_scan_begin(const tm_page_frame *frame, tm_scan *out, tm_error *err) TM_MUST_CHECK;
void tm_scan_free(tm_scan *scan);

/** Adds the next rank. TM_OK; TM_ERR_FAULT. */
tm_status tm_scan_add(tm_scan *scan, const tm_page_frame *frame, const tm_timeline *timeline,
                      tm_error *err) TM_MUST_CHECK;

/** Joins scans of different ranks into one scan of all these ranks.
 * @param parts [n] the scans; in each of them, ranks are in ascending order
 * @param out a scan that was just started
 * @return TM_OK; TM_ERR_FAULT */
tm_status tm_scan_join(const tm_page_frame *frame, const tm_scan *parts, size_t n, tm_scan *out,
                       tm_error *err) TM_MUST_CHECK;

/** Collects the chosen parts of the next rank: participations in operations, and events.
 * @param scan has the plan of all ranks
 * @param at      the rank's index among all ranks
 * @return        TM_OK; TM_ERR_FAULT */
tm_status tm_scan_collect(tm_scan *scan, const tm_page_frame *frame, const tm_timeline *timeline,
                          size_t at, tm_page_encoding *out, tm_error *err) TM_MUST_CHECK;

/** Where a page's timelines come from. Its functions return the statuses of the functions above, or
 * TM_ERR_INPUT. */
typedef struct tm_page_source {
    void *context;
    /* Scans all ranks. */
    tm_status (*scan)(void *context, const tm_page_frame *frame, tm_scan *out, tm_error *err);
    /* Collects the chosen parts of all ranks. Adds participations to the operations. Appends a
     * tm_page_encoding to @p encodings for each group of ranks, so that each rank is in exactly one
     * encoding. The caller owns the encodings. */
    tm_status (*collect)(void *context, const tm_page_frame *frame, tm_scan *chosen,
                         tm_vec *encodings, tm_error *err);
} tm_page_source;

#endif
