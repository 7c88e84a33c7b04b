/* Reads planes of GPUs: kernels, copies, sets, and derived events. */
#ifndef TMERGE_XPLANE_GPU_H
#define TMERGE_XPLANE_GPU_H

#include "readers/xplane/xplane_launches.h"
#include "readers/xplane/xplane_read.h"
#include "readers/xplane/xplane_steps.h"

/**
 * Reads all lines of the rank's device, and only correlation ids of the file's other devices.
 * @param launches  correlations that host calls look up; appended to
 * @param steps     the markers of a `Steps` line are added
 * @return          TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_xgpu_read(tm_xread *r, tm_xlaunches *launches, tm_xsteps *steps,
                       tm_error *err) TM_MUST_CHECK;

/**
 * Turns kernels launched by calls for copies and sets into these: ROCm records them as kernels.
 * @param calls  [n] the calls' correlation ids and names, in any order; sorted
 * @return       TM_OK; TM_ERR_FAULT
 */
typedef struct tm_xcopy_call {
    int64_t correlation;
    uint32_t name; /* name id: hipMemcpyHtoDAsync */
} tm_xcopy_call;
tm_status tm_xgpu_find_copies(tm_xread *r, tm_xcopy_call *calls, size_t n,
                              tm_error *err) TM_MUST_CHECK;

#endif
