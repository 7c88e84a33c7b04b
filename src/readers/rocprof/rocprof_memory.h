/* Allocations and releases of a process, matched by address. Private to the rocprof reader. */
#ifndef TMERGE_ROCPROF_MEMORY_H
#define TMERGE_ROCPROF_MEMORY_H

#include "base/vec.h"
#include "timeline/trace.h"
#include "tmerge/reader.h"

/** Special values of `bytes`: of a release whose size is not known yet, and of an allocation whose
 * size is unknown. */
#define TM_ROCPROF_FREED INT64_MIN
#define TM_ROCPROF_UNKNOWN (INT64_MIN + 1)

typedef struct tm_rocprof_allocation {
    uint64_t address;
    int64_t time_ns, bytes;
    int64_t device;        /* GPU number; -1: unknown, or memory of the host */
    uint32_t track, place; /* place: index in the file */
    bool gpu;
} tm_rocprof_allocation;

/**
 * Adds events and memory rows. A release has the size of the allocation at its address; an event of
 * unknown size gets no row.
 * @param all    [of tm_rocprof_allocation] in any order; reordered
 * @param unit   only memory of its devices and of the host is added; NULL: all
 * @param name   of the events
 * @return       false if out of memory
 */
bool tm_rocprof_memory_emit(tm_vec *all, const tm_unit *unit, uint32_t name, tm_trace *trace);

#endif
