/* The profiler's own sums, for comparison with the trace's events. Private to the Ascend reader. */
#ifndef TMERGE_ASCEND_OVERLAP_H
#define TMERGE_ASCEND_OVERLAP_H

#include "readers/json.h"
#include "timeline/trace.h"

typedef enum tm_ascend_part {
    TM_ASCEND_COMPUTING,
    TM_ASCEND_COMMUNICATION,
    TM_ASCEND_EXPOSED, /* communication that no computation overlaps */
    TM_ASCEND_FREE,
    TM_ASCEND_N_PARTS
} tm_ascend_part;

/** Total durations of the tracks of the process "Overlap Analysis". The intervals of a track do not
 * overlap. */
typedef struct tm_ascend_overlap {
    int64_t n[TM_ASCEND_N_PARTS], sum_ns[TM_ASCEND_N_PARTS];
} tm_ascend_overlap;

/** Adds an interval of a track; unknown tracks are ignored. */
void tm_ascend_overlap_add(tm_ascend_overlap *overlap, const tm_json_text *name,
                           int64_t duration_ns);

/** Computes the same totals from a trace's events. Kernels with a row of TM_ATTR_COLLECTIVE
 * communicate, and all other kernels compute. Returns false if out of memory. */
bool tm_ascend_overlap_of(const tm_trace *trace, tm_ascend_overlap *out);

/** Returns the number of totals that differ by more than rounding: 10 ns per interval. Tracks
 * without any interval are skipped. */
int tm_ascend_overlap_differ(const tm_ascend_overlap *vendor, const tm_ascend_overlap *own);

#endif
