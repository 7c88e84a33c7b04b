/* Which ranks an export holds, and what it says of itself. Private to the reader of Nsight Systems
 * exports. */
#ifndef TMERGE_NSYS_UNITS_H
#define TMERGE_NSYS_UNITS_H

#include "base/vec.h"
#include "readers/sqlite/database.h"
#include "tmerge/reader.h"

/* <hardware 8><machine 8><process 24><thread 24> */
#define TM_NSYS_PROCESS_MASK (~INT64_C(0xFFFFFF))

static inline int64_t tm_nsys_pid(int64_t global) {
    return global >> 24 & 0xFFFFFF;
}

/** The clock of an export. */
typedef struct tm_nsys_clock {
    int64_t utc_ns;    /* the epoch's time of its start, -1 where it does not say */
    int64_t system_ns; /* of its host's monotonic clock then, -1 likewise */
    int64_t shift_ns;  /* what the export added to every time */
    bool normalised;   /* the times are of the epoch already */
} tm_nsys_clock;

tm_status tm_nsys_read_clock(const tm_db *db, tm_nsys_clock *out, tm_error *err) TM_MUST_CHECK;

/** The host's name, which is the caller's; empty where the export does not say. */
tm_status tm_nsys_read_host(const tm_db *db, tm_vec *out, tm_error *err) TM_MUST_CHECK;

/** Ranks of the job as the environment of the program that was started has them, -1 without. */
tm_status tm_nsys_read_world_size(const tm_db *db, int64_t *out, tm_error *err) TM_MUST_CHECK;

/** As list_units of tm_format. */
tm_status tm_nsys_list_units(tm_source *source, bool known, tm_vec *units, bool *foreign,
                             tm_error *err) TM_MUST_CHECK;

#endif
