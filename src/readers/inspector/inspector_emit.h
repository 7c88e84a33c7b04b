/* From the records of NCCL's inspector to a trace: communication kernels, and nothing else. */
#ifndef TMERGE_INSPECTOR_EMIT_H
#define TMERGE_INSPECTOR_EMIT_H

#include "inspector_file.h"
#include "timeline/trace.h"

typedef struct tm_inspector_emitter {
    const tm_unit *unit; /* NULL: all records are of one rank */
    int64_t largest;     /* ranks of the largest communicator */
    tm_names *names;
    tm_trace *trace;
} tm_inspector_emitter;

/** Adds a record where it is the unit's. False when memory is out. */
bool tm_inspector_emit(void *emitter, const tm_inspector_record *record);

#endif
