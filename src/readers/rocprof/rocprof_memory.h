/* Allocations and releases of a process, matched by address. Private to the rocprof reader. */
#ifndef TMERGE_ROCPROF_MEMORY_H
#define TMERGE_ROCPROF_MEMORY_H

#include "base/vec.h"
#include "timeline/trace.h"
#include "tmerge/reader.h"

/** Special values of `bytes`. FREED: a release whose size is not known yet. UNKNOWN: an allocation
 * whose size is unknown. */
#define TM_ROCPROF_FREED INT64_MIN
#define TM_ROCPROF_UNKNOWN (INT64_MIN + 1)

typedef struct tm_rocprof_allocation {
    uint64_t address;
    int64_t time_ns, bytes;
    int64_t device;        /* GPU number; -1: unknown, or memory of the host */
    uint32_t track, place; /* place: index of the event in the file */
    bool gpu;
} tm_rocprof_allocation;

/**
 * Adds the events of allocations and releases, and their rows in the table of memory. The size of a
 * release is the size of the allocation at the same address. An event of unknown size gets no row.
 *
 * @param all   vector of tm_rocprof_allocation, in any order; this function reorders them
 * @param unit  only memory of this unit's devices and of the host is added; NULL: all memory is
 *              added
 * @param name  name id of the events
 * @return      false if out of memory
 */
bool tm_rocprof_memory_emit(tm_vec *all, const tm_unit *unit, uint32_t name, tm_trace *trace);

#endif
