/* Kernels that cannot have run as recorded. Part of job.integrity. */
#ifndef TMERGE_SERIAL_H
#define TMERGE_SERIAL_H

#include "base/intervals.h"
#include "tmerge/analysis.h"

typedef struct tm_serial {
    int64_t kernels;      /* that last for longer than they can have */
    uint32_t name;        /* of the one of which most is in doubt; TM_NO_NAME: none */
    int64_t begin_ns;     /* its begin, as recorded */
    int64_t followers;    /* how many follow it before its end */
    int64_t beyond_ns;    /* of its duration, what follows the begin of the next; else all */
    int64_t late;         /* other kernels that end after the host had waited for them, and */
    int64_t latest_ns;    /* by how much at most */
    tm_intervals compute; /* P without that, and */
    tm_intervals busy;    /* all of the device's time; both only where kernels is not 0 */
} tm_serial;

/**
 * Finds them. A stream runs one kernel after another: a launch may let the next begin a little
 * early, and the nodes of one graph may run side by side, but nothing lets several pass one. Nor
 * does one last long after the host has waited for its device, or after all else of a recording.
 *
 * @param out  free it with tm_serial_free whatever comes of it
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_serial_find(const tm_rank_view *view, tm_serial *out, tm_error *err) TM_MUST_CHECK;
void tm_serial_free(tm_serial *serial);

#endif
