/* Planes of the host: threads, of which a rank gets what its device has of them. */
#ifndef TMERGE_XPLANE_HOST_H
#define TMERGE_XPLANE_HOST_H

#include "xplane_launches.h"
#include "xplane_read.h"
#include "xplane_steps.h"

/**
 * Reads the threads. One process drives all devices of a file: calls and allocations go to the rank
 * of their device, and with them all of a thread that calls for one device alone. The rest is shown
 * once, on the file's first rank. Steps are every rank's.
 *
 * @param launches  of the GPU events: whose the calls are
 * @param copies    of tm_xcopy_call: the calls that copy or set are added
 * @return          TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_xhost_read(tm_xread *r, tm_xlaunches *launches, tm_xsteps *steps, tm_vec *copies,
                        tm_error *err) TM_MUST_CHECK;

#endif
