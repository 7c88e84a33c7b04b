/* Finds the steps. They are markers of the profiler on a line of the device, or numbered
 * annotations of the user. */
#ifndef TMERGE_XPLANE_STEPS_H
#define TMERGE_XPLANE_STEPS_H

#include "xplane_read.h"

/** A step, and the time of its calls for the device. */
typedef struct tm_xstep {
    int64_t group;            /* for a device marker: group_id of the marker's events */
    int64_t number;           /* -1: the step is numbered by its position */
    int64_t begin_ns, end_ns; /* times of the marker or annotation */
    /* start of the first call, and end of the last call; first_ns is INT64_MAX if there are no
     * calls */
    int64_t first_ns, last_ns;
    uint32_t name; /* name id of an annotation; TM_NO_NAME for a marker */
} tm_xstep;

/** A cause: an event that contains calls of its thread. It is a step, or it is work that was caused
 * by another thread. */
typedef struct tm_xcause {
    /* Type and id of the flow that leads to the cause. For a step: type is -1, and id is the step's
     * index in `steps`. */
    int64_t type, id;
    int64_t end_ns;
    int64_t first_ns, last_ns; /* as in tm_xstep, but of the calls within the cause */
    uint32_t parent;           /* index of the cause that contains this cause; UINT32_MAX: none */
} tm_xcause;

typedef struct tm_xsteps {
    tm_vec steps;   /* vector of tm_xstep */
    tm_vec causes;  /* vector of tm_xcause */
    tm_vec flows;   /* vector of flow: flows that start in causes */
    uint32_t open;  /* innermost cause that is open on the current thread; UINT32_MAX: none */
    bool of_device; /* there are markers of the device, so annotations of the host are ignored */
} tm_xsteps;

tm_xsteps tm_xsteps_make(void);
void tm_xsteps_free(tm_xsteps *s);

/** Adds a marker of the device. Returns false if out of memory. */
bool tm_xsteps_mark(tm_xsteps *s, const tm_raw_event *event, tm_text name, const tm_xvalues *v);

/** Must be called before the events of a thread are added. */
void tm_xsteps_thread(tm_xsteps *s);

/** Adds an event of the host. The event may be a step, or it may cause work on other threads.
 * Events must be added in the order of their line. Returns false if out of memory. */
bool tm_xsteps_take(tm_xsteps *s, const tm_raw_event *event, const tm_xvalues *v);

/** Adds a call for the rank's device. Calls and events must be added in the order of their line. */
void tm_xsteps_call(tm_xsteps *s, const tm_raw_event *event, const tm_xvalues *v);

/** Adds annotations that mark the steps to the trace. TM_OK; TM_ERR_FAULT. */
tm_status tm_xsteps_finish(tm_xsteps *s, tm_xread *r, tm_error *err) TM_MUST_CHECK;

#endif
