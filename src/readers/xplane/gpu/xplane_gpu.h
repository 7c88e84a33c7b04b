/* Reads planes of GPUs: kernels, copies, sets, and derived events. */
#ifndef TMERGE_XPLANE_GPU_H
#define TMERGE_XPLANE_GPU_H

#include "readers/xplane/plane/xplane_launches.h"
#include "readers/xplane/plane/xplane_read.h"
#include "readers/xplane/plane/xplane_steps.h"

/**
 * Reads all lines of the rank's device. From the other devices of the file, reads only the
 * correlation ids.
 *
 * @param launches  receives the correlation ids, by which host calls are looked up
 * @param steps     receives the markers of a `Steps` line
 * @return          TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_xgpu_read(tm_xread *r, tm_xlaunches *launches, tm_xsteps *steps,
                       tm_error *err) TM_MUST_CHECK;

/** A host call that copies or sets memory. */
typedef struct tm_xcopy_call {
    int64_t correlation;
    uint32_t name; /* name id: hipMemcpyHtoDAsync */
} tm_xcopy_call;

/**
 * Turns a kernel into a copy or set if the call that launched it copies or sets memory. (ROCm
 * records the work of such calls as kernels.)
 *
 * @param calls  [n] in any order; this function sorts them
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_xgpu_find_copies(tm_xread *r, tm_xcopy_call *calls, size_t n,
                              tm_error *err) TM_MUST_CHECK;

#endif
