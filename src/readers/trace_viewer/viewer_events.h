/* Converts the trace viewer's JSON to the XSpace from which it was made. Private to its reader. */
#ifndef TMERGE_VIEWER_EVENTS_H
#define TMERGE_VIEWER_EVENTS_H

#include "timeline/trace.h"
#include "tmerge/source.h"

/**
 * Reads the JSON.
 *
 * @param trace  receives the counts of dropped events, and whether the file is truncated
 * @param out    vector of uint8_t: the XSpace is appended
 * @return       TM_OK, also for a truncated file that has events; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_viewer_to_space(tm_source *source, tm_trace *trace, tm_vec *out,
                             tm_error *err) TM_MUST_CHECK;

#endif
