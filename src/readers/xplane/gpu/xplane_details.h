/* Parses the details of GPU events, which the profiler writes as one text. */
#ifndef TMERGE_XPLANE_DETAILS_H
#define TMERGE_XPLANE_DETAILS_H

#include "tmerge/names.h"
#include "tmerge/timeline.h"

/** Sets the fields that occur in a text such as "regs:38 static_shared:0 dynamic_shared:64
 * grid:160,1,1 block:1024,1,1 occ_pct:62.5". Leaves other fields unchanged. */
void tm_xdetails_kernel(tm_text text, tm_launch_shape *out);

/** Returns the bytes of a copy or set: 4 for "size:4 dest:1 async:1" or "num_bytes:4 ...". Returns
 * -1 if the number is missing or 0, because ROCm's tracer writes 0 for an unknown number. */
int64_t tm_xdetails_bytes(tm_text text);

/** Writes the source and the destination of a copy in Kineto's words: "(Pageable -> Device)". If
 * one of them is missing, writes an empty text. */
void tm_xdetails_memories(tm_text text, char *out, size_t size);

#endif
