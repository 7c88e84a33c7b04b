/* Links launches with device events: by the arrows of a trace, and by the items of the queue
 * between two threads. For the readers of Ascend's traces. */
#ifndef TMERGE_ASCEND_FLOWS_H
#define TMERGE_ASCEND_FLOWS_H

#include "readers/json.h"
#include "timeline/trace.h"
#include "tmerge/names.h"

/** Where an arrow starts: at the launching call, or at the operator that requested the work. */
typedef enum tm_ascend_arrow {
    TM_ASCEND_TO_DEVICE,
    TM_ASCEND_ASYNC,
    TM_ASCEND_N_ARROWS
} tm_ascend_arrow;

typedef struct tm_ascend_flows {
    tm_vec starts[TM_ASCEND_N_ARROWS]; /* private */
    tm_vec ends[TM_ASCEND_N_ARROWS];   /* private */
    tm_vec queued, taken;              /* private: events that enqueue, events that dequeue */
} tm_ascend_flows;

void tm_ascend_flows_init(tm_ascend_flows *flows);
void tm_ascend_flows_free(tm_ascend_flows *flows);

/** Adds one end of an arrow: a time on a track of the trace. False if out of memory. */
bool tm_ascend_flows_add(tm_ascend_flows *flows, tm_ascend_arrow arrow, bool start,
                         const tm_json_text *id, uint32_t track, int64_t ns);

/** Like tm_ascend_flows_add, for an arrow from the launching call, with a number as id, as in
 * databases. */
bool tm_ascend_flows_connect(tm_ascend_flows *flows, bool start, int64_t id, uint32_t track,
                             int64_t ns);

/** Records that an event put item @p id into the queue between two threads, or took it out. False
 * if out of memory. */
bool tm_ascend_flows_queue(tm_ascend_flows *flows, bool taken, int64_t id, uint32_t event);

/** Gives every device event with an arrow its launch: the innermost call around the arrow's start.
 * If that call dequeues, or no call is recorded (as at the profiler's level 0 outside of the
 * queue), a zero-length call is inserted. If the launching thread had dequeued an item from another
 * thread, the call's own `launch` is the call that enqueued the item. */
tm_status tm_ascend_flows_link(const tm_ascend_flows *flows, tm_trace *trace, tm_names *names,
                               tm_error *err) TM_MUST_CHECK;

#endif
