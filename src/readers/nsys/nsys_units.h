/* The ranks in an export, its clock and its host. Private to the reader of Nsight Systems exports.
 * */
#ifndef TMERGE_NSYS_UNITS_H
#define TMERGE_NSYS_UNITS_H

#include "base/vec.h"
#include "readers/sqlite/profiler_database.h"
#include "tmerge/reader.h"

/* The bits of a globalTid: <hardware 8><machine 8><process 24><thread 24> */
#define TM_NSYS_PROCESS_MASK (~INT64_C(0xFFFFFF))

static inline int64_t tm_nsys_pid(int64_t global) {
    return global >> 24 & 0xFFFFFF;
}

/** The clock of an export. */
typedef struct tm_nsys_clock {
    int64_t utc_ns;    /* start of the recording, since the epoch; -1 if unknown */
    int64_t system_ns; /* the host's monotonic clock at utc_ns; -1 if unknown */
    int64_t shift_ns;  /* shift that the export added to every time */
    bool normalised;   /* times are already relative to the epoch */
} tm_nsys_clock;

tm_status tm_nsys_read_clock(const tm_db *db, tm_nsys_clock *out, tm_error *err) TM_MUST_CHECK;

/** Reads the name of the host into @p out, which the caller frees. The name is empty if the export
 * does not have it. */
tm_status tm_nsys_read_host(const tm_db *db, tm_vec *out, tm_error *err) TM_MUST_CHECK;

/** Reads the number of ranks of the job from the environment of the program that was launched. Sets
 * *out to -1 if the environment does not have it. */
tm_status tm_nsys_read_world_size(const tm_db *db, int64_t *out, tm_error *err) TM_MUST_CHECK;

/** Implements tm_format.list_units. */
tm_status tm_nsys_list_units(tm_source *source, bool known, tm_vec *units, bool *foreign,
                             tm_error *err) TM_MUST_CHECK;

#endif
