#include "nsys_memory.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/sums.h"
#include "nsys_units.h"

/* CUPTI's kinds of memory (ENUM_CUDA_MEM_KIND). */
enum { PAGEABLE, PINNED, DEVICE_MEMORY, ARRAY, MANAGED, DEVICE_STATIC, MANAGED_STATIC };

/* Returns a track of the process for events whose thread is not recorded. The track has only such
 * events, so that they are not attributed to any operator. */
static uint32_t track_beside(tm_nsys_emitter *e, const char *what) {
    char process[24];
    snprintf(process, sizeof process, "%" PRId64, tm_nsys_pid(e->unit->process));
    uint32_t pid = tm_names_intern_string(e->names, process),
             tid = tm_names_intern_string(e->names, what);
    return pid == TM_NAME_FAILED || tid == TM_NAME_FAILED
               ? UINT32_MAX
               : tm_trace_track(e->trace, TM_TRACK_CPU, pid, tid);
}

/* Finds the size [bytes] of the block at an address. The row of a release may lack the size, so the
 * size of an allocation is kept until its release. *bytes becomes INT64_MIN if the size of a
 * release is unknown. Returns false if out of memory. */
static bool find_bytes(tm_nsys_emitter *e, int64_t address, bool released, int64_t *bytes) {
    if (e->blocks.keys.size == 0) {
        e->blocks = TM_KEYS(int64_t);
        e->block_bytes = TM_VEC(int64_t);
    }
    int64_t *live = tm_keys_value(&e->blocks, &e->block_bytes, &address);
    if (!live)
        return false;
    if (released && *bytes <= 0)
        *bytes = *live > 0 ? *live : INT64_MIN;
    *live = released ? 0 : *bytes;
    return true;
}

tm_status tm_nsys_memory_row(tm_nsys_emitter *e, sqlite3_value **values, tm_error *err) {
    enum { DEVICE = TM_NSYS_REST, ADDRESS, BYTES, KIND, OPERATION };
    enum { CPU, CUDA };
    const int64_t kind = tm_db_int(values, KIND, -1), device = tm_db_int(values, DEVICE, -1);
    const bool released = tm_db_int(values, OPERATION, 0) == 1;
    const bool on_gpu = kind == DEVICE_MEMORY || kind == ARRAY || kind == DEVICE_STATIC;
    int64_t bytes = tm_db_int(values, BYTES, -1), address = tm_db_int(values, ADDRESS, -1);
    uint32_t row;
    if ((!on_gpu && kind != PAGEABLE && kind != PINNED) ||
        (on_gpu && !((uint64_t)e->unit->devices & tm_unit_device(device))))
        return TM_OK;
    if (!find_bytes(e, address, released, &bytes))
        return tm_fail_memory(err);
    const tm_raw_event event = {.kind = TM_INSTANT,
                                .category = TM_CAT_CPU_INSTANT,
                                .name = tm_names_intern_string(e->names, "[memory]"),
                                .track = track_beside(e, "memory")};
    TM_TRY(tm_nsys_add(e, values, event, &row, err));
    if (row == TM_NO_EVENT)
        return TM_OK;
    if (bytes < 0) {
        e->trace->counts[TM_COUNT_BAD_VALUE]++;
        return TM_OK;
    }
    const tm_memory_attr attr = {.address = address,
                                 .bytes = released ? -bytes : bytes,
                                 .allocated_bytes = -1,
                                 .reserved_bytes = -1,
                                 .event = row,
                                 .device_type = on_gpu ? CUDA : CPU,
                                 .device = on_gpu ? tm_narrow_i32(device) : -1};
    return tm_vec_append(&e->trace->attrs[TM_ATTR_MEMORY], &attr, 1) ? TM_OK : tm_fail_memory(err);
}

tm_status tm_nsys_add_address(tm_nsys_emitter *e, int64_t address, uint32_t row, tm_error *err) {
    const tm_unified_attr attr = {.address = address, .event = row};
    return row == TM_NO_EVENT || address == 0 ||
                   tm_vec_append(&e->trace->attrs[TM_ATTR_UNIFIED], &attr, 1)
               ? TM_OK
               : tm_fail_memory(err);
}

tm_status tm_nsys_cpu_fault_row(tm_nsys_emitter *e, sqlite3_value **values, tm_error *err) {
    enum { INSTRUCTION = TM_NSYS_REST, MODULE, ADDRESS };
    uint32_t row;
    tm_raw_event event = {.kind = TM_INSTANT, .category = TM_CAT_PAGE_FAULT};
    TM_TRY(tm_nsys_string(e, tm_db_int(values, INSTRUCTION, -1), false, &event.name, err));
    if (event.name == TM_NO_NAME)
        TM_TRY(tm_nsys_string(e, tm_db_int(values, MODULE, -1), false, &event.name, err));
    event.track = track_beside(e, "page faults");
    TM_TRY(tm_nsys_add(e, values, event, &row, err));
    return tm_nsys_add_address(e, tm_db_int(values, ADDRESS, 0), row, err);
}

tm_status tm_nsys_gpu_fault_row(tm_nsys_emitter *e, sqlite3_value **values, tm_error *err) {
    enum { FAULTS = TM_NSYS_REST + 2, ACCESS, ADDRESS };
    static const char *const names[] = {"GPU page faults", "GPU page faults (read)",
                                        "GPU page faults (write)", "GPU page faults (atomic)",
                                        "GPU page faults (prefetch)"};
    const int64_t access = tm_db_int(values, ACCESS, 0);
    const bool known = access >= 0 && access < (int64_t)(sizeof names / sizeof *names);
    tm_counter_attr attr = {.value = (double)tm_db_int(values, FAULTS, 1),
                            .series = tm_names_intern_string(e->names, "faults")};
    TM_TRY(tm_nsys_add_on_stream(e, values, TM_CAT_PAGE_FAULT,
                                 tm_names_intern_string(e->names, names[known ? access : 0]),
                                 &attr.event, err));
    TM_TRY(tm_nsys_add_address(e, tm_db_int(values, ADDRESS, 0), attr.event, err));
    return tm_nsys_add_counter(e, &attr, err);
}
