/* From the records of a process to the rows of a trace. Private to the rocprof reader. */
#ifndef TMERGE_ROCPROF_EMIT_H
#define TMERGE_ROCPROF_EMIT_H

#include "rocprof_document.h"
#include "timeline/trace.h"
#include "tmerge/reader.h"

enum { TM_ROCPROF_TRACKS = 256 };

/** A thread or stream that was met, to know it again without its texts. */
typedef struct tm_rocprof_track {
    uint64_t first, second; /* device and stream, process and thread */
    uint32_t track;
    uint8_t way; /* what first and second are; UINT8_MAX: free */
} tm_rocprof_track;

typedef struct tm_rocprof_emitter {
    const tm_unit *unit; /* what is read; NULL: all devices. Borrowed, as all pointers here */
    tm_names *names;
    tm_trace *trace;
    tm_vec allocations; /* of what was allocated and freed, by its address */
    tm_rocprof_track tracks[TM_ROCPROF_TRACKS];
} tm_rocprof_emitter;

void tm_rocprof_emitter_init(tm_rocprof_emitter *e, const tm_unit *unit, tm_names *names,
                             tm_trace *trace);
void tm_rocprof_emitter_free(tm_rocprof_emitter *e);

/** Adds what a record says, or counts why not. False when memory is out. */
bool tm_rocprof_emit(tm_rocprof_emitter *e, tm_rocprof_tables *tables, tm_rocprof_list list,
                     const tm_rocprof_record *record);

/** Finishes what needs all records of the process: the sizes of what was freed. False when memory
 * is out. */
bool tm_rocprof_emit_end(tm_rocprof_emitter *e);

/** The device that a dispatch or copy is on: its number, -1 where the agent is unknown.
 * @return  false of a record that names no agent, and of a copy from host to host */
bool tm_rocprof_device_of(const tm_rocprof_tables *tables, tm_rocprof_list list,
                          const tm_rocprof_record *record, int64_t *device);

#endif
