/* What a rank's GPU did in equal parts of the job's time: the tier of the timeline that is always
 * there. */
#ifndef TMERGE_REPORT_TIMELINE_COVERAGE_H
#define TMERGE_REPORT_TIMELINE_COVERAGE_H

#include "timeline/lanes.h"
#include "timeline_bytes.h"
#include "tmerge/status.h"

/** How a job's time is divided: bucket i is [i, i + 1) x duration / n, rounded down. */
typedef struct tm_buckets {
    int64_t begin_ns, duration_ns; /* of the job, since the epoch */
    size_t n;
} tm_buckets;

/** Begin [ns] of bucket @p i, from the job's begin. */
int64_t tm_bucket_begin(const tm_buckets *buckets, size_t i);

/** Adds to @p sums, [buckets->n], the length [ns] of a set in each bucket.
 * @param set  ascending, its members apart */
void tm_buckets_add(const tm_buckets *buckets, const tm_intervals *set, int64_t *sums);

/** Appends the lanes' shares of the buckets, kind by kind, a byte each: the share times 255,
 * rounded, and 1 at least where there is anything. */
tm_status tm_coverage_put(const tm_buckets *buckets, const tm_lanes *lanes, tm_bytes *out,
                          tm_error *err) TM_MUST_CHECK;

/** Makes one share of every two, in rows of an even number of them: their mean, rounded up, so that
 * it is 1 at least where there is anything. */
void tm_coverage_halve(tm_bytes *coverage);

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
