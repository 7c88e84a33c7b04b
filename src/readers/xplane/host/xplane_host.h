/* Reads planes of the host. Each rank gets the part of the host's threads that belongs to its
 * device. */
#ifndef TMERGE_XPLANE_HOST_H
#define TMERGE_XPLANE_HOST_H

#include "readers/xplane/plane/xplane_launches.h"
#include "readers/xplane/plane/xplane_read.h"
#include "readers/xplane/plane/xplane_steps.h"

/**
 * Reads the threads. One process drives all devices of a file. A call or an allocation belongs to
 * the rank of its device. If all calls of a thread are for the same device, the other events of the
 * thread also belong to the rank of this device. Otherwise, they are added only to the first rank
 * of the file. Steps are added to every rank.
 *
 * @param launches  has the device of each call, from the GPU events
 * @param copies    vector of tm_xcopy_call: calls that copy or set memory are appended
 * @return          TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_xhost_read(tm_xread *r, tm_xlaunches *launches, tm_xsteps *steps, tm_vec *copies,
                        tm_error *err) TM_MUST_CHECK;

#endif
