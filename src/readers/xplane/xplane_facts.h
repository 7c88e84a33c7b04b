/* What an XSpace says of the device and of the recording itself. */
#ifndef TMERGE_XPLANE_FACTS_H
#define TMERGE_XPLANE_FACTS_H

#include "xplane_read.h"

/** Sets the host, the metadata (device, warnings and errors of the profiler) and when the profile
 * began. TM_OK; TM_ERR_FAULT. */
tm_status tm_xfacts_read(tm_xread *r, const char *path, tm_error *err) TM_MUST_CHECK;

#endif
