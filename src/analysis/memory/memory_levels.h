/* Allocated memory of each device over time, as levels. */
#ifndef TMERGE_MEMORY_MEMORY_LEVELS_H
#define TMERGE_MEMORY_MEMORY_LEVELS_H

#include "base/vec.h"
#include "tmerge/analysis.h"

/** Memory of a device after a record. */
typedef struct tm_memory_level {
    int64_t time_ns, allocated_bytes, reserved_bytes; /* reserved: -1 if not recorded */
    uint32_t record; /* index of the memory record in the timeline */
} tm_memory_level;

/** Memory of a step on a device. */
typedef struct tm_memory_step {
    int64_t records, allocated_bytes, peak_bytes, peak_reserved_bytes, end_bytes;
} tm_memory_step;

/** The levels of a device (a GPU or the CPU). */
typedef struct tm_device_levels {
    int32_t type, device;
    bool relative; /* whether the trace records no totals, so that levels start at 0 */
    /* whether reserved_bytes of a level is the part of allocated_bytes that TPU programs hold */
    bool stacks;
    int64_t allocations, releases;
    int64_t begin_bytes;         /* allocated bytes before the first record */
    int64_t peak_reserved_bytes; /* -1 if not recorded */
    size_t peak;                 /* index of the level with the most allocated bytes */
    tm_vec levels;               /* vector of tm_memory_level, ascending in time */
    tm_vec steps;                /* [n_steps] vector of tm_memory_step */
} tm_device_levels;

/**
 * Reads all records in order of time.
 * @param out  vector of tm_device_levels; the caller frees it with tm_memory_levels_free, also on
 *             failure
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_memory_levels_find(const tm_timeline *timeline, tm_vec *out,
                                tm_error *err) TM_MUST_CHECK;
void tm_memory_levels_free(tm_vec *devices);

/**
 * Chooses all levels if there are at most 384. Otherwise divides the time into 128 equal parts, and
 * chooses up to three levels in each: those with the minimum allocated bytes, the maximum allocated
 * bytes, and the maximum reserved bytes.
 * @param levels  vector of tm_memory_level; has at least one
 * @param out     vector of size_t: receives the indices of the chosen levels, ascending
 * @return        false if out of memory
 */
bool tm_memory_levels_thin(const tm_vec *levels, tm_vec *out);

#endif
