/* Converts the records of NCCL's inspector to a trace, which has only communication kernels. */
#ifndef TMERGE_INSPECTOR_EMIT_H
#define TMERGE_INSPECTOR_EMIT_H

#include "inspector_file.h"
#include "timeline/trace.h"

typedef struct tm_inspector_emitter {
    const tm_unit *unit; /* NULL: all records belong to one rank */
    int64_t largest;     /* number of ranks of the largest communicator */
    tm_names *names;
    tm_trace *trace;
} tm_inspector_emitter;

/** Adds a record if it belongs to the unit. Returns false if out of memory. */
bool tm_inspector_emit(void *emitter, const tm_inspector_record *record);

#endif
