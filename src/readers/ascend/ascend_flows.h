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
    /* private: events that put an item into the queue, and events that take one out */
    tm_vec queued, taken;
} tm_ascend_flows;

void tm_ascend_flows_init(tm_ascend_flows *flows);
void tm_ascend_flows_free(tm_ascend_flows *flows);

/** Adds one end of an arrow: a time on a track of the trace. Returns false if out of memory. */
bool tm_ascend_flows_add(tm_ascend_flows *flows, tm_ascend_arrow arrow, bool start,
                         const tm_json_text *id, uint32_t track, int64_t ns);

/** Adds one end of an arrow from a launching call, like tm_ascend_flows_add. The id is a number, as
 * in databases. */
bool tm_ascend_flows_connect(tm_ascend_flows *flows, bool start, int64_t id, uint32_t track,
                             int64_t ns);

/** Records that an event put item @p id into the queue between two threads, or took it out. Returns
 * false if out of memory. */
bool tm_ascend_flows_queue(tm_ascend_flows *flows, bool taken, int64_t id, uint32_t event);

/** Sets the launch of every device event at which an arrow ends: the innermost call that contains
 * the start of the arrow. If this call dequeues, or if no call is recorded, a call of zero length
 * is inserted and used instead. (At the profiler's level 0, calls outside of the queue are not
 * recorded.) If the launching thread dequeued an item that another thread enqueued, the `launch` of
 * the call is the call that enqueued the item. */
tm_status tm_ascend_flows_link(const tm_ascend_flows *flows, tm_trace *trace, tm_names *names,
                               tm_error *err) TM_MUST_CHECK;

#endif
