/* What an XSpace says of the device and of the recording itself. */
#ifndef TMERGE_XPLANE_FACTS_H
#define TMERGE_XPLANE_FACTS_H

#include "xplane_read.h"

/** Finds when the profile began. */
void tm_xfacts_set_epoch(tm_xread *r);

/** Sets the metadata: device, allocators that its events told of, warnings and errors
 * of the profiler. TM_OK; TM_ERR_FAULT. */
tm_status tm_xfacts_read(tm_xread *r, tm_error *err) TM_MUST_CHECK;

#endif
