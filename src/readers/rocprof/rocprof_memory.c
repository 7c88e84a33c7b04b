#include "rocprof_memory.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "base/sums.h"

TM_ORDER_BY(by_address, tm_rocprof_allocation, address, time_ns, place);

TM_ORDER_BY(by_place, tm_rocprof_allocation, place);

static void find_sizes(tm_rocprof_allocation *v, size_t n) {
    const tm_rocprof_allocation *live = NULL;
    for (size_t i = 0; i < n; i++) {
        bool known = live && live->address == v[i].address && live->bytes >= 0;
        if (v[i].bytes != TM_ROCPROF_FREED) {
            live = &v[i];
            continue;
        }
        if (known) {
            v[i].bytes = -live->bytes;
            v[i].gpu = live->gpu;
            v[i].device = live->device;
        }
        live = NULL;
    }
}

static bool emit(const tm_rocprof_allocation *a, uint32_t name, tm_trace *trace) {
    enum { CPU, GPU };
    const tm_raw_event event = {.begin_ns = a->time_ns,
                                .name = name,
                                .track = a->track,
                                .category = TM_CAT_CPU_INSTANT,
                                .kind = TM_INSTANT,
                                .launch = TM_NO_EVENT};
    const tm_memory_attr attr = {.address = a->address <= INT64_MAX ? (int64_t)a->address : -1,
                                 .bytes = a->bytes,
                                 .allocated_bytes = -1,
                                 .reserved_bytes = -1,
                                 .event = (uint32_t)trace->events.n,
                                 .device_type = a->gpu ? GPU : CPU,
                                 .device = a->gpu ? tm_narrow_i32(a->device) : -1};
    if (trace->events.n >= TM_NO_EVENT - 1 || !tm_vec_append(&trace->events, &event, 1))
        return false;
    trace->counts[TM_COUNT_NO_EPOCH]++;
    if (a->bytes == TM_ROCPROF_UNKNOWN || a->bytes == TM_ROCPROF_FREED) {
        trace->counts[TM_COUNT_BAD_VALUE]++;
        return true;
    }
    return tm_vec_append(&trace->attrs[TM_ATTR_MEMORY], &attr, 1) != NULL;
}

bool tm_rocprof_memory_emit(tm_vec *all, const tm_unit *unit, uint32_t name, tm_trace *trace) {
    tm_rocprof_allocation *v = all->data;
    bool ok = name != TM_NAME_FAILED;
    tm_vec_sort(all, by_address);
    find_sizes(v, all->n);
    tm_vec_sort(all, by_place);
    for (size_t i = 0; i < all->n && ok; i++)
        if (!v[i].gpu || !unit || ((uint64_t)unit->devices & tm_unit_device(v[i].device)))
            ok = emit(&v[i], name, trace);
    return ok;
}
