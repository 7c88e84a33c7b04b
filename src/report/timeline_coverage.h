/* What a rank's GPU did in equal parts of the job's time: the tier of the timeline that is always
 * there. */
#ifndef TMERGE_REPORT_TIMELINE_COVERAGE_H
#define TMERGE_REPORT_TIMELINE_COVERAGE_H

#include "base/intervals.h"
#include "timeline_bytes.h"
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

/** How a job's time is divided: bucket i is [i, i + 1) x duration / n, rounded down. */
typedef struct tm_buckets {
    int64_t begin_ns, duration_ns; /* of the job, since the epoch */
    size_t n;
} tm_buckets;

/** Begin [ns] of bucket @p i, from the job's begin. */
int64_t tm_bucket_begin(const tm_buckets *buckets, size_t i);

/** Intervals of one rank [ns since the epoch, on the job's clock], those of one lane disjoint. */
typedef struct tm_lanes {
    tm_intervals kinds[TM_N_LANE_KINDS];
} tm_lanes;

/**
 * @param timeline  whose attrs have the waits
 * @param out       freed by tm_lanes_free whatever comes of it
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_lanes_make(const tm_timeline *timeline, tm_lanes *out, tm_error *err) TM_MUST_CHECK;
void tm_lanes_free(tm_lanes *lanes);

/** Adds to @p sums, [buckets->n], the length [ns] of a set in each bucket. */
void tm_buckets_add(const tm_buckets *buckets, const tm_intervals *set, int64_t *sums);

/** Appends the lanes' shares of the buckets, kind by kind, a byte each: the share times 255,
 * rounded, and 1 at least where there is anything. */
tm_status tm_coverage_put(const tm_buckets *buckets, const tm_lanes *lanes, tm_bytes *out,
                          tm_error *err) TM_MUST_CHECK;

/**
 * Adds the lanes without what hides behind compute, nor copies behind communication, to the strip
 * of all ranks.
 * @param sums  [TM_N_LANE_KINDS * buckets->n] kind by kind
 */
tm_status tm_strip_add(const tm_buckets *buckets, const tm_lanes *lanes, int64_t *sums,
                       tm_error *err) TM_MUST_CHECK;

/** Appends the strip, two bytes each, lowest first: the share of all @p n_ranks times 65535,
 * rounded, and 1 at least where there is anything. */
void tm_strip_put(const tm_buckets *buckets, const int64_t *sums, size_t n_ranks, tm_bytes *out);

#endif
