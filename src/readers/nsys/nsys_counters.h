/* Counter samples of GPUs and network cards. Private to the reader of Nsight Systems exports. */
#ifndef TMERGE_NSYS_COUNTERS_H
#define TMERGE_NSYS_COUNTERS_H

#include "nsys_emit.h"

/**
 * Makes a counter event from each sample of the unit's GPUs (GPU_METRICS), and of the host's
 * network cards (NET_NIC_METRIC).
 * @return TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_nsys_add_counters(tm_nsys_emitter *e, tm_error *err) TM_MUST_CHECK;

#endif
