/* Reads planes of TPUs: a core's operations on the host's clock, collectives, launches, steps. */
#ifndef TMERGE_XPLANE_TPU_H
#define TMERGE_XPLANE_TPU_H

#include "readers/xplane/xplane_launches.h"
#include "readers/xplane/xplane_read.h"
#include "readers/xplane/xplane_steps.h"

/** Returns the id of the flow that starts at a host event (@p host) or ends at an event of a core
 * of @p device; without a flow, the id of the run in the device's queue; 0 if neither is given. */
int64_t tm_tpu_flow_of(const tm_xvalues *v, bool host, int64_t device);

/** A run of a program on the rank's core, as used for steps. */
typedef struct tm_tpu_span {
    int64_t begin_ns, end_ns;
    int64_t launch; /* correlation with the host call, 0 none */
    uint32_t name;  /* name id of the program without its fingerprint */
} tm_tpu_span;

/**
 * Reads the lines of the rank's core, and the launches of the file's other cores.
 * @param launches  correlations that host calls look up; appended to
 * @param steps     the markers of a `Steps` line are added
 * @param runs      of tm_tpu_span, appended to in the order of their starts
 * @return          TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_tpu_read(tm_xread *r, tm_xlaunches *launches, tm_xsteps *steps, tm_vec *runs,
                      tm_error *err) TM_MUST_CHECK;

/**
 * Completes the steps after the host was read. Markers of the core get the calls that launched the
 * programs run in them. Without markers, each run of the program with the most time is a step, if
 * it ran at least twice.
 */
tm_status tm_tpu_find_steps(const tm_xread *r, const tm_vec *runs, tm_xsteps *steps,
                            tm_error *err) TM_MUST_CHECK;

/** Sets the bytes of releases to those allocated at their address. TM_OK; TM_ERR_FAULT. */
tm_status tm_tpu_complete_memory(const tm_xread *r, tm_error *err) TM_MUST_CHECK;

#endif
