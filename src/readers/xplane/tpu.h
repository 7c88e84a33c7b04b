/* Planes of TPUs: what a core ran, when by the host's clock, with whom; its launches and steps. */
#ifndef TMERGE_XPLANE_TPU_H
#define TMERGE_XPLANE_TPU_H

#include "xplane_launches.h"
#include "xplane_read.h"
#include "xplane_steps.h"

/** The number of the flow that an event of the host begins (@p host) or one of a core, that of @p
 * device, ends; without a flow, of the run in the device's queue; 0 where neither is told. */
int64_t tm_tpu_flow_of(const tm_xvalues *v, bool host, int64_t device);

/** A run of a program on the rank's core, as steps need it. */
typedef struct tm_tpu_span {
    int64_t begin_ns, end_ns;
    int64_t launch; /* correlation with the call on the host, 0 none */
    uint32_t name;  /* name id of the program without its fingerprint */
} tm_tpu_span;

/**
 * Reads the lines of the rank's core, and of the others of the file what launched their programs.
 * @param launches  what the calls on the host will ask for is added
 * @param steps     the markers of a `Steps` line are added
 * @param runs      of tm_tpu_span, appended to in the order of their begins
 * @return          TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_tpu_read(tm_xread *r, tm_xlaunches *launches, tm_xsteps *steps, tm_vec *runs,
                      tm_error *err) TM_MUST_CHECK;

/**
 * Completes the steps once the host was read. Markers of the core get the calls that launched the
 * programs which ran in them. Where nothing marks steps, each run of the program that takes most
 * time is one, if it ran twice.
 */
tm_status tm_tpu_find_steps(const tm_xread *r, const tm_vec *runs, tm_xsteps *steps,
                            tm_error *err) TM_MUST_CHECK;

/** Gives releases the bytes of what was allocated at their address. TM_OK; TM_ERR_FAULT. */
tm_status tm_tpu_complete_memory(const tm_xread *r, tm_error *err) TM_MUST_CHECK;

#endif
