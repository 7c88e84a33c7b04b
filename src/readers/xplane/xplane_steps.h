/* Steps: those that the profiler put on a line of the device, or the user's numbered annotations.
 */
#ifndef TMERGE_XPLANE_STEPS_H
#define TMERGE_XPLANE_STEPS_H

#include "xplane_read.h"

/** A step, and the calls for the device that belong to it. */
typedef struct tm_xstep {
    int64_t group;             /* of a marker on the device: group_id of its events */
    int64_t number;            /* -1: its place among them counts */
    int64_t begin_ns, end_ns;  /* of the marker or annotation */
    int64_t first_ns, last_ns; /* begin of the first call, end of the last; INT64_MAX: none */
    uint32_t name;             /* name id of an annotation; TM_NO_NAME of a marker */
} tm_xstep;

/** What holds a call on its thread: a step, or what an event of another thread caused. */
typedef struct tm_xcause {
    int64_t type, id; /* of the flow that leads here; of a step -1 and its index */
    int64_t end_ns;
    int64_t first_ns, last_ns; /* as in tm_xstep, of the calls in it */
    uint32_t parent;           /* what holds this one; UINT32_MAX: nothing */
} tm_xcause;

typedef struct tm_xsteps {
    tm_vec steps;   /* of tm_xstep */
    tm_vec causes;  /* of tm_xcause */
    tm_vec flows;   /* of causes by what they produced */
    uint32_t open;  /* the innermost cause at this place of the thread; UINT32_MAX: none */
    bool of_device; /* the steps are markers of the device: the host's annotations are none */
} tm_xsteps;

tm_xsteps tm_xsteps_make(void);
void tm_xsteps_free(tm_xsteps *s);

/** Takes a marker of the device. False when memory is out. */
bool tm_xsteps_mark(tm_xsteps *s, const tm_raw_event *event, tm_text name, const tm_xvalues *v);

/** Begins another thread. */
void tm_xsteps_thread(tm_xsteps *s);

/** Takes an event of the host, in the order of its line: it may be a step, or cause what other
 * threads do. False when memory is out. */
bool tm_xsteps_take(tm_xsteps *s, const tm_raw_event *event, const tm_xvalues *v);

/** Takes a call for the rank's device, in the same order. */
void tm_xsteps_call(tm_xsteps *s, const tm_raw_event *event, const tm_xvalues *v);

/** Puts annotations into the trace that mark the steps. TM_OK; TM_ERR_FAULT. */
tm_status tm_xsteps_finish(tm_xsteps *s, tm_xread *r, tm_error *err) TM_MUST_CHECK;

#endif
