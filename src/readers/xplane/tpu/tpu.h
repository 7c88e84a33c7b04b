/* Reads planes of TPUs: the operations of a core (with times converted to the host's clock), and
 * the core's collectives, launches and steps. */
#ifndef TMERGE_XPLANE_TPU_H
#define TMERGE_XPLANE_TPU_H

#include "readers/xplane/plane/xplane_launches.h"
#include "readers/xplane/plane/xplane_read.h"
#include "readers/xplane/plane/xplane_steps.h"

/** If @p host, returns the id of the flow that starts at a host event. Otherwise, returns the id of
 * the flow that ends at an event of a core of @p device. If there is no flow, returns an id that is
 * made from the run's id in the device's queue. If that is missing, too, returns 0. */
int64_t tm_tpu_flow_of(const tm_xvalues *v, bool host, int64_t device);

/** A run of a program on the rank's core, from which steps may be made. */
typedef struct tm_tpu_span {
    int64_t begin_ns, end_ns;
    int64_t launch; /* correlation id, which the host's call also has; 0: none */
    uint32_t name;  /* id of the program's name without its fingerprint */
} tm_tpu_span;

/**
 * Reads the lines of the rank's core, and the launches of the file's other cores.
 *
 * @param launches  receives the correlation ids of launches, by which host calls are looked up
 * @param steps     receives the markers of a `Steps` line
 * @param runs      vector of tm_tpu_span: runs are appended in the order of their starts
 * @return          TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_tpu_read(tm_xread *r, tm_xlaunches *launches, tm_xsteps *steps, tm_vec *runs,
                      tm_error *err) TM_MUST_CHECK;

/** Completes the steps after the host was read. If there are markers, the step of a marker gets the
 * calls that launched the programs that ran during the marker. If there are no markers, the steps
 * are the runs of the program with the most time, provided that it ran at least twice. */
tm_status tm_tpu_find_steps(const tm_xread *r, const tm_vec *runs, tm_xsteps *steps,
                            tm_error *err) TM_MUST_CHECK;

/** Sets the bytes of each release to the bytes allocated at its address. TM_OK; TM_ERR_FAULT. */
tm_status tm_tpu_complete_memory(const tm_xread *r, tm_error *err) TM_MUST_CHECK;

#endif
