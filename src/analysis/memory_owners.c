#include "memory_owners.h"

#include <stdlib.h>
#include <string.h>

#include "base/sums.h"

/* An operator that has begun on a thread and not ended. */
typedef struct open_op {
    int64_t end_ns;
    uint32_t name;
} open_op;

/* Operators and annotations, without steps, which hold everything. */
static bool is_operator(const tm_rank_view *view, size_t row) {
    static const char step[] = "ProfilerStep#";
    const tm_timeline *timeline = view->timeline;
    if (timeline->kind[row] != TM_DURATION || (timeline->category[row] != TM_CAT_CPU_OP &&
                                               timeline->category[row] != TM_CAT_USER_ANNOTATION))
        return false;
    tm_text name = tm_names_text(view->names, timeline->name[row]);
    return name.size < sizeof step - 1 || memcmp(name.bytes, step, sizeof step - 1) != 0;
}

static tm_owner *owner_of(tm_owners *owners, uint32_t name, int32_t device_type) {
    const tm_owner_key key = {name, device_type};
    return tm_keys_value(&owners->keys, &owners->owners, &key);
}

/* Whether an operator of the same name is open within this one. */
static bool is_repeated(const open_op *open, size_t n, size_t i) {
    for (size_t inner = i + 1; inner < n; inner++)
        if (open[inner].name == open[i].name)
            return true;
    return false;
}

/* Counts a record for every operator that is open, once for those of one name. */
static bool count_record(tm_owners *owners, const tm_memory_attr *record, const open_op *open,
                         size_t n) {
    int64_t bytes = tm_bytes_cut(record->bytes), taken = bytes > 0 ? bytes : 0;
    for (size_t i = 0; i < n; i++) {
        if (is_repeated(open, n, i))
            continue;
        tm_owner *owner = owner_of(owners, open[i].name, record->device_type);
        if (!owner)
            return false;
        owner->allocations += bytes > 0;
        owner->bytes = tm_sum(owner->bytes, taken);
        owner->increase = tm_sum(owner->increase, bytes);
        if (i + 1 == n) {
            owner->self_allocations += bytes > 0;
            owner->self_bytes = tm_sum(owner->self_bytes, taken);
            owner->self_increase = tm_sum(owner->self_increase, bytes);
        }
    }
    return true;
}

/* Goes through a thread; @p next is its first record, and in the end the first behind it. */
static bool walk_thread(const tm_rank_view *view, const tm_track *track, size_t *next,
                        tm_owners *owners) {
    const tm_timeline *timeline = view->timeline;
    const tm_memory_attr *records = timeline->attrs[TM_ATTR_MEMORY];
    const open_op nowhere = {INT64_MAX, TM_NO_NAME};
    size_t n_records = timeline->n_attrs[TM_ATTR_MEMORY];
    uint32_t row = track->first, end = track->first + track->count;
    tm_vec open = TM_VEC(open_op);
    bool ok = true;
    for (; ok && row < end && *next < n_records && records[*next].event < end; row++) {
        bool record = records[*next].event == row;
        if (!record && !is_operator(view, row))
            continue;
        const open_op *stack = open.data;
        int64_t begin = timeline->begin_ns[row];
        while (open.n > 0 && stack[open.n - 1].end_ns <= begin)
            open.n--;
        if (record) {
            const open_op *inside = open.n > 0 ? stack : &nowhere;
            size_t n = open.n > 0 ? open.n : 1;
            owners->of[*next] = inside[n - 1].name;
            ok = count_record(owners, &records[(*next)++], inside, n);
        } else {
            const open_op op = {begin + timeline->duration_ns[row], timeline->name[row]};
            ok = tm_vec_append(&open, &op, 1) != NULL;
        }
    }
    tm_vec_free(&open);
    return ok;
}

/* Calls of every operator that has a row, whether they took memory or not. */
static bool count_calls(const tm_rank_view *view, tm_owners *owners) {
    const tm_timeline *timeline = view->timeline;
    const tm_owner_key *keys = owners->keys.keys.data;
    uint32_t *calls = calloc(tm_names_count(view->names), sizeof *calls);
    if (!calls)
        return false;
    for (size_t row = 0; row < timeline->n_events; row++)
        calls[timeline->name[row]] += is_operator(view, row);
    for (size_t i = 0; i < owners->owners.n; i++)
        if (keys[i].name != TM_NO_NAME)
            ((tm_owner *)owners->owners.data)[i].calls = calls[keys[i].name];
    free(calls);
    return true;
}

tm_status tm_owners_find(const tm_rank_view *view, tm_owners *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    const tm_memory_attr *records = timeline->attrs[TM_ATTR_MEMORY];
    size_t n = timeline->n_attrs[TM_ATTR_MEMORY], next = 0;
    *out = (tm_owners){.of = calloc(n + 1, sizeof *out->of), .keys = TM_KEYS(tm_owner_key)};
    out->owners = TM_VEC(tm_owner);
    bool ok = out->of != NULL;
    for (size_t t = 0; ok && t < timeline->n_tracks && next < n; t++) {
        const tm_track *track = &timeline->tracks[t];
        if (records[next].event - track->first < track->count)
            ok = walk_thread(view, track, &next, out);
    }
    return ok && count_calls(view, out) ? TM_OK : tm_fail_memory(err);
}

void tm_owners_free(tm_owners *owners) {
    free(owners->of);
    owners->of = NULL;
    tm_keys_free(&owners->keys);
    tm_vec_free(&owners->owners);
}
