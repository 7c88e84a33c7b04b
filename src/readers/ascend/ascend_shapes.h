/* What an operator was called with. Private to the Ascend reader. */
#ifndef TMERGE_ASCEND_SHAPES_H
#define TMERGE_ASCEND_SHAPES_H

#include "readers/json.h"
#include "timeline/trace.h"

/** Whether a text is of dimensions, as "32,256;\r\n;\r\n64" is: numbers and what stands between
 * them. */
bool tm_ascend_shapes_are(const tm_json_text *dims);

/**
 * Adds the row of shapes of an event, if its arg "Input Dims" tells any: "32,256;\r\n;\r\n64"
 * becomes [[32, 256], [], [64]], as other profilers have it. False when memory is out.
 */
bool tm_ascend_shapes_add(tm_trace *trace, tm_names *names, tm_vec *scratch,
                          const tm_json_text *dims, uint32_t event);

#endif
