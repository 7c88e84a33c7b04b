/* Reads data about the device and the recording from an XSpace. */
#ifndef TMERGE_XPLANE_FACTS_H
#define TMERGE_XPLANE_FACTS_H

#include "readers/xplane/plane/xplane_read.h"

/** Finds the start time of the profile. */
void tm_xfacts_set_epoch(tm_xread *r);

/** Sets the metadata of the trace: data about the device, the allocators that occur in the trace's
 * events, and warnings and errors of the profiler. TM_OK; TM_ERR_FAULT. */
tm_status tm_xfacts_read(tm_xread *r, tm_error *err) TM_MUST_CHECK;

#endif
