/* Finds kernels that cannot have run as recorded. Part of job.integrity. */
#ifndef TMERGE_SERIAL_H
#define TMERGE_SERIAL_H

#include "base/intervals.h"
#include "tmerge/analysis.h"

typedef struct tm_serial {
    int64_t kernels; /* number of kernels with an impossible end */
    uint32_t name; /* name of the kernel with the most time in doubt; TM_NO_NAME if there is none */
    int64_t begin_ns;  /* start of that kernel, as recorded */
    int64_t followers; /* number of kernels that start after that kernel and end before its end */
    int64_t beyond_ns; /* part of that kernel's duration after the next kernel starts; all of it if
                          no kernel follows */
    int64_t late;      /* number of other kernels that end after the host had waited for them */
    int64_t latest_ns; /* maximum time by which late kernels end late */
    tm_intervals compute; /* P (see Terms) without the time in doubt; set only if kernels > 0 */
    tm_intervals busy;    /* P u C u M without the time in doubt; only set if kernels > 0 */
} tm_serial;

/**
 * Finds kernels that cannot have run as recorded. A stream runs one kernel after another: a launch
 * attribute may let the next begin a little early, and nodes of one graph may run concurrently, but
 * several kernels cannot start and end within another kernel. Nor can a kernel last long after the
 * host has waited for its device, or after everything else in the recording has ended.
 *
 * @param out  free it with tm_serial_free, also on failure
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_serial_find(const tm_rank_view *view, tm_serial *out, tm_error *err) TM_MUST_CHECK;
void tm_serial_free(tm_serial *serial);

#endif
