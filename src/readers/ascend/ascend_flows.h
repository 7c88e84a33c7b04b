/* Who launched what: the arrows of a trace, and the queue between threads. For the readers of
 * Ascend's traces. */
#ifndef TMERGE_ASCEND_FLOWS_H
#define TMERGE_ASCEND_FLOWS_H

#include "readers/json.h"
#include "timeline/trace.h"
#include "tmerge/names.h"

/** Where arrows come from: the call itself, or the begin of the operator that asked for it. */
typedef enum tm_ascend_arrow {
    TM_ASCEND_TO_DEVICE,
    TM_ASCEND_ASYNC,
    TM_ASCEND_N_ARROWS
} tm_ascend_arrow;

typedef struct tm_ascend_flows {
    tm_vec starts[TM_ASCEND_N_ARROWS]; /* private */
    tm_vec ends[TM_ASCEND_N_ARROWS];   /* private */
    tm_vec queued, taken;              /* private: Enqueue and Dequeue */
} tm_ascend_flows;

void tm_ascend_flows_init(tm_ascend_flows *flows);
void tm_ascend_flows_free(tm_ascend_flows *flows);

/** Keeps an end of an arrow: a place on a track of the trace. False when memory is out. */
bool tm_ascend_flows_add(tm_ascend_flows *flows, tm_ascend_arrow arrow, bool start,
                         const tm_json_text *id, uint32_t track, int64_t ns);

/** The same of an arrow to the device whose id is a number, as databases have it. */
bool tm_ascend_flows_connect(tm_ascend_flows *flows, bool start, int64_t id, uint32_t track,
                             int64_t ns);

/** Keeps that an event put something into the queue between two threads (@p id tells what), or took
 * it from there. False when memory is out. */
bool tm_ascend_flows_queue(tm_ascend_flows *flows, bool taken, int64_t id, uint32_t event);

/**
 * Gives every event of the device that an arrow leads to its launch: the innermost call that holds
 * the arrow's start, of CANN or that takes from the queue; where none is recorded, as at the
 * profiler's level 0 outside of the queue, a call without length is put there. A call that a thread
 * made for what it took from the queue leads, as its `launch`, to the call that put that there.
 */
tm_status tm_ascend_flows_link(const tm_ascend_flows *flows, tm_trace *trace, tm_names *names,
                               tm_error *err) TM_MUST_CHECK;

#endif
