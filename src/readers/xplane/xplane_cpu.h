/* XLA on CPUs: the host's threads run a program's operations, and tell of each which device's it
 * is. */
#ifndef TMERGE_XPLANE_CPU_H
#define TMERGE_XPLANE_CPU_H

#include "xplane_read.h"

/**
 * Appends the devices, of tm_xdevice, whose operations the threads of a host ran; none where the
 * profile does not say whose they are (before JAX 0.8).
 * @param plane  of the host; @p index: its place in the file
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_xcpu_devices(tm_space *space, const tm_xplane *plane, int64_t index, tm_vec *out,
                          tm_error *err) TM_MUST_CHECK;

/** The rank of a device, by its number and how many its process has. */
int64_t tm_xcpu_rank(int64_t number, size_t n_of_process);

/** Whether an event of a host's thread is told as a device's: an operation, or a mark of one's end.
 */
bool tm_xcpu_is_work(tm_text name, const tm_xvalues *v);

/**
 * Reads the operations of the rank's device. Each thread that ran some is a stream.
 * @return  TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_xcpu_read(tm_xread *r, tm_error *err) TM_MUST_CHECK;

#endif
