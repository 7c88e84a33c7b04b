/* GPU activity of each rank in equal parts of the job's time. This is the coarsest level of the
 * timeline. */
#ifndef TMERGE_REPORT_TIMELINE_COVERAGE_H
#define TMERGE_REPORT_TIMELINE_COVERAGE_H

#include "timeline/lanes.h"
#include "timeline_bytes.h"
#include "tmerge/status.h"

/** Division of a job's time. Bucket i is the time [i, i + 1) * duration / n, rounded down. */
typedef struct tm_buckets {
    int64_t begin_ns, duration_ns; /* begin (since the epoch) and duration of the job */
    size_t n;
} tm_buckets;

/** Returns the start [ns] of bucket @p i, relative to the job's start. */
int64_t tm_bucket_begin(const tm_buckets *buckets, size_t i);

/** Appends a byte for each lane, each bucket and each kind. The byte is the busy share of the
 * bucket times 255, rounded. It is at least 1 if the lane was busy at all. */
tm_status tm_coverage_put(const tm_buckets *buckets, const tm_lanes *lanes, tm_bytes *out,
                          tm_error *err) TM_MUST_CHECK;

/** Halves the resolution of coverage. Each row must have an even number of shares. Each pair of
 * shares is replaced by its mean. The mean is rounded up, so that a busy lane does not get 0. */
void tm_coverage_halve(tm_bytes *coverage);

/**
 * Adds a rank's lanes to the strip, i.e. to the sums of all ranks. Communication during compute is
 * not added, and copies during communication are not added.
 *
 * @param sums  [TM_N_LANE_KINDS * buckets->n] by kind
 */
tm_status tm_strip_add(const tm_buckets *buckets, const tm_lanes *lanes, int64_t *sums,
                       tm_error *err) TM_MUST_CHECK;

/** Appends the strip, two bytes per value, little endian. A value is the busy time divided by the
 * time of all @p n_ranks in the bucket, times 65535, rounded. It is at least 1 if the busy time is
 * not 0. */
void tm_strip_put(const tm_buckets *buckets, const int64_t *sums, size_t n_ranks, tm_bytes *out);

#endif
