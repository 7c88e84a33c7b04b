#include "nsys_sched.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sorted.h"
#include "nsys_units.h"

/* A time at which a thread started (`in`) or stopped running on a core. */
typedef struct switching {
    int64_t thread, start_ns, cpu;
    size_t place; /* index of the row; gives the order if times are equal */
    bool in;
} switching;

tm_status tm_nsys_sched_row(tm_nsys_emitter *e, sqlite3_value **values, tm_error *err) {
    enum { CPU = TM_NSYS_REST, IN };
    e->switchings.size = sizeof(switching);
    const switching row = {.thread = tm_db_int(values, TM_NSYS_AT, 0),
                           .start_ns = tm_db_int(values, TM_NSYS_START, INT64_MIN),
                           .cpu = tm_db_int(values, CPU, -1),
                           .place = e->switchings.n,
                           .in = tm_db_int(values, IN, 0) != 0};
    return tm_vec_append(&e->switchings, &row, 1) ? TM_OK : tm_fail_memory(err);
}

TM_ORDER_BY(by_thread, switching, thread, start_ns, place);

uint32_t tm_nsys_running_track(tm_nsys_emitter *e, int64_t thread, bool make) {
    char process[24], text[48];
    snprintf(process, sizeof process, "%" PRId64, tm_nsys_pid(thread));
    snprintf(text, sizeof text, "%" PRId64 TM_ON_CPU, thread & 0xFFFFFF);
    uint32_t pid = tm_names_intern_string(e->names, process),
             tid = tm_names_intern_string(e->names, text);
    if (pid == TM_NAME_FAILED || tid == TM_NAME_FAILED)
        return UINT32_MAX;
    return make ? tm_trace_track(e->trace, TM_TRACK_CPU, pid, tid)
                : tm_trace_find_track(e->trace, TM_TRACK_CPU, pid, tid);
}

static tm_status take_own(void *context, sqlite3_value **values, tm_error *err) {
    const int64_t thread = tm_db_int(values, 0, 0);
    return tm_vec_append(context, &thread, 1) ? TM_OK : tm_fail_memory(err);
}

/* Removes the threads that Nsight itself started in the process. */
static tm_status drop_own(tm_nsys_emitter *e, tm_error *err) {
    static const char *const column[] = {"globalTid"};
    const tm_db_query query = {"ThreadNames", column, 1,
                               "nameId IN (SELECT id FROM StringIds WHERE value GLOB '[[]NSys*' OR "
                               "value = '*2CommsProcesso')",
                               "nameId"};
    tm_vec own = TM_VEC(int64_t);
    switching *v = e->switchings.data;
    tm_status status = e->switchings.n > 0 && e->find_text
                           ? tm_db_scan(e->db, &query, 0, take_own, &own, err)
                           : TM_OK;
    size_t n = 0;
    tm_sort(own.data, own.n, sizeof(int64_t), tm_compare_i64);
    for (size_t i = 0; i < e->switchings.n; i++) {
        const size_t at = tm_lower_bound(own.data, own.n, v[i].thread);
        if (at == own.n || ((const int64_t *)own.data)[at] != v[i].thread)
            v[n++] = v[i];
    }
    e->switchings.n = n;
    tm_vec_free(&own);
    return status;
}

tm_status tm_nsys_add_running(tm_nsys_emitter *e, tm_error *err) {
    TM_TRY(drop_own(e, err));
    const switching *v = e->switchings.data;
    size_t n = e->switchings.n;
    if (n > 1)
        qsort(e->switchings.data, n, sizeof *v, by_thread);
    for (size_t i = 0; i < n; i++) {
        const bool ended = i + 1 < n && v[i + 1].thread == v[i].thread && !v[i + 1].in;
        char text[32];
        uint32_t row;
        if (!v[i].in)
            continue;
        snprintf(text, sizeof text, "CPU %" PRId64, v[i].cpu);
        tm_raw_event event = {.kind = TM_DURATION,
                              .category = TM_CAT_ON_CPU,
                              .name = tm_names_intern_string(e->names, text),
                              .track = tm_nsys_running_track(e, v[i].thread, true)};
        TM_TRY(tm_nsys_add_at(e, v[i].start_ns, ended ? v[i + 1].start_ns : INT64_MIN, event, &row,
                              err));
    }
    return TM_OK;
}
