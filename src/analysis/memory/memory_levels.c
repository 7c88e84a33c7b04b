#include "memory_levels.h"

#include <string.h>

#include "analysis/shared/allocators.h"
#include "owners.h"

enum { SLOTS = 128, PER_SLOT = 3 };

/* Records of a thread that have not been read yet: [next, end), ascending in time. */
typedef struct run {
    uint32_t next, end;
} run;

/* Finds the run of each thread. Records are sorted by row, and the rows of a thread are contiguous,
 * so its records are contiguous, too. */
static bool find_runs(const tm_timeline *timeline, tm_vec *out) {
    const tm_memory_attr *records = timeline->attrs[TM_ATTR_MEMORY];
    size_t n = timeline->n_attrs[TM_ATTR_MEMORY], next = 0;
    for (size_t t = 0; t < timeline->n_tracks && next < n; t++) {
        size_t first = next, end = (size_t)timeline->tracks[t].first + timeline->tracks[t].count;
        while (next < n && records[next].event < end)
            next++;
        const run found = {(uint32_t)first, (uint32_t)next};
        if (next > first && !tm_vec_append(out, &found, 1))
            return false;
    }
    return true;
}

/* Returns the run whose next record is earliest, or the first of them if there are several; NULL if
 * all records have been read. */
static run *earliest(const tm_timeline *timeline, const tm_vec *runs) {
    const tm_memory_attr *records = timeline->attrs[TM_ATTR_MEMORY];
    run *best = NULL;
    for (size_t i = 0; i < runs->n; i++) {
        run *r = (run *)runs->data + i;
        if (r->next < r->end && (!best || timeline->begin_ns[records[r->next].event] <
                                              timeline->begin_ns[records[best->next].event]))
            best = r;
    }
    return best;
}

/* Finds or adds the device of a record; NULL if out of memory. A rank has few devices. */
static tm_device_levels *device_of(const tm_timeline *timeline, const tm_memory_attr *record,
                                   tm_vec *devices) {
    for (size_t i = 0; i < devices->n; i++) {
        tm_device_levels *d = (tm_device_levels *)devices->data + i;
        if (d->type == record->device_type && d->device == record->device)
            return d;
    }
    tm_device_levels *d = tm_vec_push(devices);
    if (!d)
        return NULL;
    *d = (tm_device_levels){.type = record->device_type,
                            .device = record->device,
                            .relative = record->allocated_bytes < 0,
                            .stacks = tm_allocators_are_reported(timeline) &&
                                      record->allocated_bytes >= 0,
                            .peak_reserved_bytes = -1};
    d->levels = TM_VEC(tm_memory_level);
    d->steps = TM_VEC(tm_memory_step);
    if (!d->relative)
        /* a record's total includes the record itself */
        d->begin_bytes = tm_bytes_cut(record->allocated_bytes) - tm_bytes_cut(record->bytes);
    if (!tm_vec_append(&d->steps, NULL, timeline->n_steps + 1))
        return NULL;
    memset(d->steps.data, 0, d->steps.n * d->steps.size);
    return d;
}

/* Must be called in order of time, because the last record sets the memory at the end of the
 * step. */
static void count_in_step(tm_memory_step *s, const tm_memory_level *level, int64_t reserved,
                          int64_t bytes) {
    if (s->records == 0 || level->allocated_bytes > s->peak_bytes)
        s->peak_bytes = level->allocated_bytes;
    if (s->records == 0 || reserved > s->peak_reserved_bytes)
        s->peak_reserved_bytes = reserved;
    s->records++;
    s->allocated_bytes = tm_bytes_cut(s->allocated_bytes + (bytes > 0 ? bytes : 0));
    s->end_bytes = level->allocated_bytes;
}

/* Must be called in order of time. */
static bool count_record(const tm_timeline *timeline, uint32_t number, tm_vec *devices) {
    const tm_memory_attr *record = (tm_memory_attr *)timeline->attrs[TM_ATTR_MEMORY] + number;
    tm_device_levels *d = device_of(timeline, record, devices);
    if (!d)
        return false;
    const tm_memory_level *v = d->levels.data;
    int64_t bytes = tm_bytes_cut(record->bytes);
    int64_t before = d->levels.n > 0 ? v[d->levels.n - 1].allocated_bytes : d->begin_bytes;
    /* PyTorch before 1.10 records no totals, so the level is the sum of the records */
    tm_memory_level level = {
        .time_ns = timeline->begin_ns[record->event],
        .allocated_bytes =
            tm_bytes_cut(record->allocated_bytes < 0 ? before + bytes : record->allocated_bytes),
        .reserved_bytes = tm_bytes_cut(record->reserved_bytes),
        .record = number};
    if (d->levels.n == 0 || level.allocated_bytes > v[d->peak].allocated_bytes)
        d->peak = d->levels.n;
    d->allocations += bytes > 0;
    d->releases += bytes < 0;
    int64_t reserved = d->stacks ? -1 : level.reserved_bytes;
    if (reserved > d->peak_reserved_bytes)
        d->peak_reserved_bytes = reserved;
    int32_t step = timeline->step[record->event];
    if (step != TM_NO_STEP)
        count_in_step((tm_memory_step *)d->steps.data + step, &level, reserved, bytes);
    return tm_vec_append(&d->levels, &level, 1) != NULL;
}

tm_status tm_memory_levels_find(const tm_timeline *timeline, tm_vec *out, tm_error *err) {
    tm_vec runs = TM_VEC(run);
    *out = TM_VEC(tm_device_levels);
    bool ok = find_runs(timeline, &runs);
    for (run *next; ok && (next = earliest(timeline, &runs));)
        ok = count_record(timeline, next->next++, out);
    tm_vec_free(&runs);
    return ok ? TM_OK : tm_fail_memory(err);
}

void tm_memory_levels_free(tm_vec *devices) {
    for (size_t i = 0; i < devices->n; i++) {
        tm_vec_free(&((tm_device_levels *)devices->data)[i].levels);
        tm_vec_free(&((tm_device_levels *)devices->data)[i].steps);
    }
    tm_vec_free(devices);
}

/* Selects up to three of the levels [first, end): those with the minimum and the maximum of
 * allocated bytes, and the maximum of reserved bytes. If levels are equal, selects the first.
 * Writes their indices to @p kept, ascending and without duplicates. Returns their number. */
static size_t choose(const tm_memory_level *v, size_t first, size_t end, size_t kept[PER_SLOT]) {
    size_t low = first, high = first, reserved = first, n = 0;
    for (size_t i = first + 1; i < end; i++) {
        low = v[i].allocated_bytes < v[low].allocated_bytes ? i : low;
        high = v[i].allocated_bytes > v[high].allocated_bytes ? i : high;
        reserved = v[i].reserved_bytes > v[reserved].reserved_bytes ? i : reserved;
    }
    for (size_t i = first; i < end; i++)
        if (i == low || i == high || i == reserved)
            kept[n++] = i;
    return n;
}

bool tm_memory_levels_thin(const tm_vec *levels, tm_vec *out) {
    const tm_memory_level *v = levels->data;
    const bool all = levels->n <= (size_t)SLOTS * PER_SLOT;
    /* Slots are slightly wider than necessary, so that the last level is also in a slot. */
    int64_t begin = v[0].time_ns, width = (v[levels->n - 1].time_ns - begin) / SLOTS + 1;
    bool ok = true;
    for (size_t first = 0, end = 1; first < levels->n && ok; first = end++) {
        size_t kept[PER_SLOT];
        int64_t slot = (v[first].time_ns - begin) / width;
        while (!all && end < levels->n && (v[end].time_ns - begin) / width == slot)
            end++;
        size_t n_kept = choose(v, first, end, kept);
        ok = tm_vec_append(out, kept, n_kept) != NULL;
    }
    return ok;
}
