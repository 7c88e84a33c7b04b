/* Input shapes of operators. Private to the Ascend reader. */
#ifndef TMERGE_ASCEND_SHAPES_H
#define TMERGE_ASCEND_SHAPES_H

#include "readers/json.h"
#include "timeline/trace.h"

/** Returns whether a text consists of dimensions, such as "32,256;\r\n;\r\n64": numbers and
 * separators. */
bool tm_ascend_shapes_are(const tm_json_text *dims);

/** Adds a row of shapes to an event if its arg "Input Dims" has any shapes. The shapes get the
 * format of other profilers: "32,256;\r\n;\r\n64" becomes [[32, 256], [], [64]]. Returns false if
 * out of memory. */
bool tm_ascend_shapes_add(tm_trace *trace, tm_names *names, tm_vec *scratch,
                          const tm_json_text *dims, uint32_t event);

#endif
