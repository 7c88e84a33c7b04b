/* What the profiler's own analysis says of a trace, to compare with. Private to the Ascend reader.
 */
#ifndef TMERGE_ASCEND_LANES_H
#define TMERGE_ASCEND_LANES_H

#include "readers/json.h"
#include "timeline/trace.h"

typedef enum tm_ascend_lane {
    TM_ASCEND_COMPUTING,
    TM_ASCEND_COMMUNICATION,
    TM_ASCEND_EXPOSED, /* communication that no computation overlaps */
    TM_ASCEND_FREE,
    TM_ASCEND_N_LANES
} tm_ascend_lane;

/** Lanes of the process "Overlap Analysis": each is a sum of intervals that do not overlap. */
typedef struct tm_ascend_lanes {
    int64_t n[TM_ASCEND_N_LANES], sum_ns[TM_ASCEND_N_LANES];
} tm_ascend_lanes;

/** Adds an interval of a lane; those of no known lane are left out. */
void tm_ascend_lanes_add(tm_ascend_lanes *lanes, const tm_json_text *name, int64_t duration_ns);

/** What the events of a trace come to by the same definitions: kernels with a collective's row
 * communicate, the others compute. False when memory is out. */
bool tm_ascend_lanes_of(const tm_trace *trace, tm_ascend_lanes *out);

/** How many lanes differ by more than rounding does: 10 ns an interval. Lanes without any interval
 * are not there, and differ from nothing. */
int tm_ascend_lanes_differ(const tm_ascend_lanes *vendor, const tm_ascend_lanes *own);

#endif
