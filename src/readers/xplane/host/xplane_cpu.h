/* XLA on CPUs: host threads run the operations of a program, and each event has the device that its
 * operation belongs to. */
#ifndef TMERGE_XPLANE_CPU_H
#define TMERGE_XPLANE_CPU_H

#include "readers/xplane/plane/xplane_read.h"

/**
 * Appends the devices whose operations ran on threads of the host. Appends none if the profile does
 * not say to which device an operation belongs (before JAX 0.8).
 *
 * @param plane  plane of the host
 * @param index  index of the plane in the file
 * @param out    vector of tm_xdevice
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_xcpu_devices(tm_space *space, const tm_xplane *plane, int64_t index, tm_vec *out,
                          tm_error *err) TM_MUST_CHECK;

/** Returns the rank of a device from its number and the number of devices per process. */
int64_t tm_xcpu_rank(int64_t number, size_t n_of_process);

/** Whether an event of a host thread is device work: an operation, or the mark of an operation's
 * end. */
bool tm_xcpu_is_work(tm_text name, const tm_xvalues *v);

/**
 * Reads the operations of the rank's device. Each thread that ran some of them is a stream.
 *
 * @return  TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_xcpu_read(tm_xread *r, tm_error *err) TM_MUST_CHECK;

#endif
