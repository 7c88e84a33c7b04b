/* Converts the records of a process to the rows of a trace. Private to the rocprof reader. */
#ifndef TMERGE_ROCPROF_EMIT_H
#define TMERGE_ROCPROF_EMIT_H

#include "rocprof_document.h"
#include "timeline/trace.h"
#include "tmerge/reader.h"

enum { TM_ROCPROF_TRACKS = 256 };

/** A cached track of a thread or stream, so that its name need not be formatted again. */
typedef struct tm_rocprof_track {
    uint64_t first, second; /* device and stream, or process and thread, depending on `way` */
    uint32_t track;
    uint8_t way; /* what `first` and `second` mean; UINT8_MAX: this entry is free */
} tm_rocprof_track;

typedef struct tm_rocprof_emitter {
    /* The unit that is read; NULL: all devices. All pointers in this struct are borrowed. */
    const tm_unit *unit;
    tm_names *names;
    tm_trace *trace;
    tm_vec allocations; /* vector of tm_rocprof_allocation: allocations and releases */
    tm_rocprof_track tracks[TM_ROCPROF_TRACKS];
} tm_rocprof_emitter;

void tm_rocprof_emitter_init(tm_rocprof_emitter *e, const tm_unit *unit, tm_names *names,
                             tm_trace *trace);
void tm_rocprof_emitter_free(tm_rocprof_emitter *e);

/** Adds a record. If the record is rejected, counts the reason. False if out of memory. */
bool tm_rocprof_emit(tm_rocprof_emitter *e, tm_rocprof_tables *tables, tm_rocprof_list list,
                     const tm_rocprof_record *record);

/** Sets the sizes of releases, which is possible only after all records of the process were added.
 * False if out of memory. */
bool tm_rocprof_emit_end(tm_rocprof_emitter *e);

/**
 * Finds the number of the device that made a dispatch or copy. The number is -1 if the agent is
 * unknown.
 *
 * @return  false if the record names no agent, or if it is a copy from host to host
 */
bool tm_rocprof_device_of(const tm_rocprof_tables *tables, tm_rocprof_list list,
                          const tm_rocprof_record *record, int64_t *device);

#endif
