/* Steps: the profiler's markers on a line of the device, or the user's numbered annotations. */
#ifndef TMERGE_XPLANE_STEPS_H
#define TMERGE_XPLANE_STEPS_H

#include "xplane_read.h"

/** A step, and its calls for the device. */
typedef struct tm_xstep {
    int64_t group;            /* for a device marker: group_id of its events */
    int64_t number;           /* -1: numbered by position */
    int64_t begin_ns, end_ns; /* of the marker or annotation */
    int64_t first_ns,
        last_ns;   /* start of the first call, end of the last; first_ns INT64_MAX: none */
    uint32_t name; /* name id of an annotation; TM_NO_NAME for a marker */
} tm_xstep;

/** An event that encloses calls of its thread: a step, or work caused by another thread. */
typedef struct tm_xcause {
    int64_t type, id; /* of the incoming flow; for a step -1 and its index */
    int64_t end_ns;
    int64_t first_ns, last_ns; /* as in tm_xstep, for the calls in it */
    uint32_t parent;           /* the enclosing cause; UINT32_MAX: none */
} tm_xcause;

typedef struct tm_xsteps {
    tm_vec steps;   /* of tm_xstep */
    tm_vec causes;  /* of tm_xcause */
    tm_vec flows;   /* causes by the flows that they produced */
    uint32_t open;  /* the current innermost cause of the thread; UINT32_MAX: none */
    bool of_device; /* steps are device markers, so the host's annotations are ignored */
} tm_xsteps;

tm_xsteps tm_xsteps_make(void);
void tm_xsteps_free(tm_xsteps *s);

/** Adds a marker of the device. Returns false if out of memory. */
bool tm_xsteps_mark(tm_xsteps *s, const tm_raw_event *event, tm_text name, const tm_xvalues *v);

/** Starts a new thread. */
void tm_xsteps_thread(tm_xsteps *s);

/** Adds an event of the host, in the order of its line: it may be a step, or cause work on other
 * threads. Returns false if out of memory. */
bool tm_xsteps_take(tm_xsteps *s, const tm_raw_event *event, const tm_xvalues *v);

/** Adds a call for the rank's device, in the same order. */
void tm_xsteps_call(tm_xsteps *s, const tm_raw_event *event, const tm_xvalues *v);

/** Adds annotations to the trace that mark the steps. TM_OK; TM_ERR_FAULT. */
tm_status tm_xsteps_finish(tm_xsteps *s, tm_xread *r, tm_error *err) TM_MUST_CHECK;

#endif
