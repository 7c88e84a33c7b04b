#include "kineto_flows.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/sorted.h"

/* A few hundred flows are enough. They only show whether any flow ends at an event of a
 * category. */
enum { FLOWS_MAX = 512 };

/* A simple hash, because ids are short. */
static inline uint64_t hash_of(const char *bytes, size_t size) {
    uint64_t hash = TM_HASH_BEGIN;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

/* Reduces the flows to a sample of at most FLOWS_MAX. Keeps the flows whose hashed id ends with k
 * zero bits, for the smallest k that leaves few enough. So the sample depends neither on the order
 * of the flows nor on the number of parts. If too many flows have the same id, none is kept. */
static void thin_flows(tm_part *part) {
    tm_flow *flows = part->flows.data;
    for (;;) {
        size_t kept = 0;
        for (size_t i = 0; i < part->flows.n && part->flow_mask < UINT32_MAX; i++)
            if ((flows[i].id & part->flow_mask) == 0)
                flows[kept++] = flows[i];
        part->flows.n = kept;
        if (kept <= FLOWS_MAX)
            return;
        part->flow_mask = part->flow_mask * 2 + 1;
    }
}

bool tm_kineto_note_flow(tm_part *part, const tm_kineto_event *event) {
    const tm_json_text *category = &event->category;
    uint64_t id = hash_of(event->id.bytes, event->id.size);
    if (event->id.size == 0 || (id & part->flow_mask) != 0 || !event->has_category ||
        !tm_json_is(category, "ac2g") || event->phase == 't' || part->flow_mask >= UINT32_MAX)
        return true;
    tm_flow *flow = tm_vec_reserve(&part->flows, FLOWS_MAX + 1) ? tm_vec_push(&part->flows) : NULL;
    if (!flow)
        return false;
    *flow = (tm_flow){
        .id = id,
        .ts_ns = event->has_ts ? event->ts_ns : INT64_MIN,
        .pid = (uint32_t)hash_of(event->pid.bytes, event->pid.size),
        .tid = (uint32_t)hash_of(event->tid.bytes, event->tid.size),
        .end = event->phase == 'f',
    };
    if (part->flows.n > FLOWS_MAX)
        thin_flows(part);
    return true;
}

static int by_place(const void *a, const void *b) {
    const tm_flow *x = *(const tm_flow *const *)a, *y = *(const tm_flow *const *)b;
    int order = tm_order_u64(x->pid, y->pid);
    order = order ? order : tm_order_u64(x->tid, y->tid);
    return order ? order : tm_order_i64(x->ts_ns, y->ts_ns);
}

static int by_id(const void *a, const void *b) {
    return tm_order_u64((*(const tm_flow *const *)a)->id, (*(const tm_flow *const *)b)->id);
}

bool tm_kineto_flows_sort(tm_kineto_flows *out, tm_part *whole) {
    thin_flows(whole);
    size_t n = whole->flows.n;
    const tm_flow *flows = whole->flows.data;
    out->ends = malloc((n + 1) * sizeof *out->ends);
    out->starts = malloc((n + 1) * sizeof *out->starts);
    if (!out->ends || !out->starts)
        return false;
    for (size_t i = 0; i < n; i++)
        if (flows[i].end)
            out->ends[out->n_ends++] = &flows[i];
        else
            out->starts[out->n_starts++] = &flows[i];
    qsort(out->ends, out->n_ends, sizeof *out->ends, by_place);
    qsort(out->starts, out->n_starts, sizeof *out->starts, by_id);
    return true;
}

/* The n flows are sorted. Returns the index of the first flow that is not before the key. */
static size_t lower(const tm_flow *const *v, size_t n, const tm_flow *key,
                    int (*compare)(const void *, const void *)) {
    size_t low = 0;
    for (size_t high = n; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (compare(&v[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void tm_kineto_flows_free(tm_kineto_flows *flows) {
    free(flows->ends);
    free(flows->starts);
}

bool tm_kineto_flow_ends(const tm_kineto_flows *flows, const tm_names *names, const tm_mark *mark,
                         int64_t begin_ns) {
    tm_text pid = tm_names_text(names, mark->pid), tid = tm_names_text(names, mark->tid);
    const tm_flow place = {.pid = (uint32_t)hash_of(pid.bytes, pid.size),
                           .tid = (uint32_t)hash_of(tid.bytes, tid.size),
                           .ts_ns = begin_ns};
    const tm_flow *key = &place;
    for (size_t e = lower(flows->ends, flows->n_ends, key, by_place);
         e < flows->n_ends && by_place(&flows->ends[e], &key) == 0; e++)
        for (size_t s = lower(flows->starts, flows->n_starts, flows->ends[e], by_id);
             s < flows->n_starts && flows->starts[s]->id == flows->ends[e]->id; s++)
            if (flows->starts[s]->pid != place.pid)
                return true;
    return false;
}
