/* Finds kernels that cannot have run as recorded. Part of job.integrity. */
#ifndef TMERGE_SERIAL_H
#define TMERGE_SERIAL_H

#include "base/intervals.h"
#include "tmerge/analysis.h"

typedef struct tm_serial {
    int64_t kernels;   /* number of kernels whose end is impossible */
    uint32_t name;     /* name id of the kernel with the most time in doubt; TM_NO_NAME: none */
    int64_t begin_ns;  /* start of this kernel, as recorded */
    int64_t followers; /* number of kernels that start and end during this kernel */
    /* this kernel's time after the start of the next kernel; its whole duration if no kernel
     * follows */
    int64_t beyond_ns;
    int64_t late; /* number of further kernels that end after the host has waited for them */
    /* longest time from the end of the host's wait to the end of one of these kernels */
    int64_t latest_ns;
    /* compute events (P) without the time in doubt; set only if kernels > 0 */
    tm_intervals compute;
    /* compute, communication and memory events (P u C u M) without the time in doubt; set only if
     * kernels > 0 */
    tm_intervals busy;
} tm_serial;

/**
 * Finds kernels that cannot have run as recorded. A stream runs one kernel after another. A launch
 * attribute may let the next kernel begin a little early, and nodes of a graph may run
 * concurrently. But several kernels cannot start and end within another kernel. A kernel cannot
 * last long after the host has waited for its device, or after everything else in the recording has
 * ended.
 * @param out  the caller frees it with tm_serial_free, also on failure
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_serial_find(const tm_rank_view *view, tm_serial *out, tm_error *err) TM_MUST_CHECK;
void tm_serial_free(tm_serial *serial);

#endif
