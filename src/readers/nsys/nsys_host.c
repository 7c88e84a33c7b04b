#include "nsys_host.h"

#include "nsys_units.h"

/* Returns whether a row only marks that Nsight started or stopped tracing the OS runtime, cuDNN and
 * cuBLAS, OpenACC or OpenMP (ENUM_NSYS_EVENT_CLASS). */
static bool is_mark(int64_t class) {
    return (class >= 31 && class <= 36) || class == 45 || class == 46 || class == 79 || class == 80;
}

tm_status tm_nsys_range_row(tm_nsys_emitter *e, sqlite3_value **values, tm_error *err) {
    enum { NAME = TM_NSYS_REST, CLASS };
    int64_t thread = tm_db_int(values, TM_NSYS_AT, 0);
    uint32_t row;
    tm_raw_event event = {.kind = TM_DURATION, .category = e->category};
    if (is_mark(tm_db_int(values, CLASS, -1)))
        return TM_OK;
    TM_TRY(tm_nsys_string(e, tm_db_int(values, NAME, -1), false, &event.name, err));
    event.track = tm_nsys_track_of(e, TM_TRACK_CPU, tm_nsys_pid(thread), thread & 0xFFFFFF);
    return tm_nsys_add(e, values, event, &row, err);
}
