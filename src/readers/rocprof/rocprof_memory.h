/* Allocations of a process, and what was freed, by its address. Private to the rocprof reader. */
#ifndef TMERGE_ROCPROF_MEMORY_H
#define TMERGE_ROCPROF_MEMORY_H

#include "base/vec.h"
#include "timeline/trace.h"
#include "tmerge/reader.h"

/** Bytes of what is freed, while they are not known, and of what is allocated where they are not.
 */
#define TM_ROCPROF_FREED INT64_MIN
#define TM_ROCPROF_UNKNOWN (INT64_MIN + 1)

/** An allocation, or what frees one. */
typedef struct tm_rocprof_allocation {
    uint64_t address;
    int64_t time_ns, bytes;
    int64_t device;        /* a GPU's number, -1 where it is unknown, or memory of the host */
    uint32_t track, place; /* place: its own, in the order of the file */
    bool gpu;
} tm_rocprof_allocation;

/**
 * Adds events and rows of memory. What is freed has the size that its address was allocated with;
 * where neither is known, the event has no row.
 * @param all    [of tm_rocprof_allocation] in any order, which changes
 * @param unit   what is kept: of its devices and the host; NULL: all
 * @param name   of the events
 * @return       false when memory is out
 */
bool tm_rocprof_memory_emit(tm_vec *all, const tm_unit *unit, uint32_t name, tm_trace *trace);

#endif
