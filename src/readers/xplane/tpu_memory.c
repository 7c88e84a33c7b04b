/* What allocators of TPUs leave out: how much a release gives back. */
#include <stdlib.h>

#include "base/keys.h"
#include "base/sorted.h"
#include "tpu.h"

/* A row of the memory table, in the order of time: threads come one after the other. */
typedef struct record {
    int64_t at_ns;
    uint32_t row;
} record;

static int by_time(const void *a, const void *b) {
    const record *x = a, *y = b;
    int order = tm_order_i64(x->at_ns, y->at_ns);
    return order ? order : tm_order_u64(x->row, y->row);
}

/* Keeps how much was allocated at an address, or gives a release what was. */
static bool take(tm_memory_attr *attr, tm_keys *addresses, tm_vec *sizes) {
    const int64_t key[2] = {attr->device, attr->address};
    int64_t *size = tm_keys_value(addresses, sizes, key);
    if (!size)
        return false;
    if (attr->bytes > 0)
        *size = attr->bytes;
    else if (attr->bytes == 0)
        attr->bytes = -*size;
    if (attr->bytes <= 0)
        *size = 0;
    return true;
}

tm_status tm_tpu_complete_memory(const tm_xread *r, tm_error *err) {
    tm_memory_attr *attrs = r->trace->attrs[TM_ATTR_MEMORY].data;
    const tm_raw_event *events = r->trace->events.data;
    tm_vec records = TM_VEC(record), sizes = TM_VEC(int64_t);
    tm_keys addresses = {.keys = {.size = 2 * sizeof(int64_t)}};
    bool ok = true;
    for (size_t i = 0; i < r->trace->attrs[TM_ATTR_MEMORY].n && ok; i++) {
        const record found = {events[attrs[i].event].begin_ns, (uint32_t)i};
        ok = attrs[i].device_type == 0 || tm_vec_append(&records, &found, 1);
    }
    record *v = records.data;
    if (records.n > 1)
        qsort(v, records.n, sizeof *v, by_time);
    for (size_t i = 0; i < records.n && ok; i++)
        ok = take(&attrs[v[i].row], &addresses, &sizes);
    tm_keys_free(&addresses);
    tm_vec_free(&sizes);
    tm_vec_free(&records);
    return ok ? TM_OK : tm_fail_memory(err);
}
