#include "owners.h"

#include <stdlib.h>

#include "analysis/shared/call_kinds.h"
#include "base/sums.h"
#include "blocks.h"

/* An open operator of a thread. */
typedef struct open_op {
    int64_t end_ns;
    uint32_t name;
    int32_t device_type; /* type of device of `owner` */
    uint32_t owner;      /* index of the last result of owner_of; TM_NO_KEY: none */
} open_op;

typedef struct walk {
    const tm_rank_view *view;
    tm_owner_class *is_owner;
    tm_owners *owners;
    /* Records are sorted by row, so the records of a thread are adjacent. */
    size_t next; /* index of the next record */
    tm_vec open; /* vector of open_op, innermost last */
} walk;

/* Returns whether a row is an operator or annotation, but not a step, because steps contain
 * everything. */
bool tm_is_owning_operator(const tm_rank_view *view, uint32_t row) {
    uint8_t category = view->timeline->category[row];
    return (category == TM_CAT_CPU_OP || category == TM_CAT_USER_ANNOTATION) &&
           view->timeline->kind[row] == TM_DURATION && !tm_timeline_is_step(view->timeline, row);
}

bool tm_is_owning_module(const tm_rank_view *view, uint32_t row) {
    const tm_timeline *timeline = view->timeline;
    return timeline->category[row] == TM_CAT_PYTHON && timeline->kind[row] == TM_DURATION &&
           tm_call_kinds_at(view->call_kinds, timeline->name[row]) == TM_CALL_KIND_MODULE;
}

/* Returns the owner for an open operator and a type of device. The operator keeps the result,
 * because most of its records are for the same device. */
static tm_owner *owner_of(tm_owners *owners, open_op *op, int32_t device_type) {
    if (op->owner == TM_NO_KEY || op->device_type != device_type) {
        const tm_owner_key key = {op->name, device_type};
        const tm_owner *owner = tm_keys_value(&owners->keys, &owners->owners, &key);
        if (!owner)
            return NULL;
        op->owner = (uint32_t)(owner - (const tm_owner *)owners->owners.data);
        op->device_type = device_type;
    }
    return (tm_owner *)owners->owners.data + op->owner;
}

/* Returns whether an operator of the same name is nested in this operator. */
static bool is_repeated(const open_op *open, size_t n, size_t i) {
    for (size_t inner = i + 1; inner < n; inner++)
        if (open[inner].name == open[i].name)
            return true;
    return false;
}

/* Counts a record for each open operator. If several of them have the same name, only the innermost
 * counts. */
static bool count_record(tm_owners *owners, const tm_memory_attr *record, open_op *open, size_t n) {
    int64_t bytes = tm_bytes_cut(record->bytes), taken = bytes > 0 ? bytes : 0;
    for (size_t i = 0; i < n; i++) {
        if (is_repeated(open, n, i))
            continue;
        tm_owner *owner = owner_of(owners, &open[i], record->device_type);
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

/* Walks a thread up to its last record. Keeps track of the operators that are open at each record.
 */
static bool walk_thread(walk *w, const tm_track *track) {
    const tm_timeline *timeline = w->view->timeline;
    const tm_memory_attr *records = timeline->attrs[TM_ATTR_MEMORY];
    size_t n_records = timeline->n_attrs[TM_ATTR_MEMORY];
    uint32_t row = track->first, end = track->first + track->count;
    /* stands for memory outside of all operators, which has its own row */
    open_op nowhere = {INT64_MAX, TM_NO_NAME, 0, TM_NO_KEY};
    w->open.n = 0;
    for (; row < end && w->next < n_records && records[w->next].event < end; row++) {
        bool record = records[w->next].event == row;
        if (!record && !w->is_owner(w->view, row))
            continue;
        open_op *stack = w->open.data;
        int64_t begin = timeline->begin_ns[row];
        while (w->open.n > 0 && stack[w->open.n - 1].end_ns <= begin)
            w->open.n--;
        if (record) {
            size_t n = w->open.n > 0 ? w->open.n : 1;
            stack = w->open.n > 0 ? stack : &nowhere;
            w->owners->of[w->next] = stack[n - 1].name;
            if (!count_record(w->owners, &records[w->next++], stack, n))
                return false;
        } else {
            const open_op op = {begin + timeline->duration_ns[row], timeline->name[row], 0,
                                TM_NO_KEY};
            if (!tm_vec_append(&w->open, &op, 1))
                return false;
        }
    }
    return true;
}

/* Counts all calls of every owner that has a row, including calls that allocated nothing. */
static bool count_calls(const walk *w) {
    const tm_timeline *timeline = w->view->timeline;
    const tm_owner_key *keys = w->owners->keys.keys.data;
    if (w->owners->owners.n == 0 || (w->owners->owners.n == 1 && keys[0].name == TM_NO_NAME))
        return true;
    uint32_t *calls = calloc(w->view->n_names, sizeof *calls);
    if (!calls)
        return false;
    for (uint32_t row = 0; row < timeline->n_events; row++)
        if (w->is_owner(w->view, row))
            calls[timeline->name[row]]++;
    for (size_t i = 0; i < w->owners->owners.n; i++)
        if (keys[i].name != TM_NO_NAME)
            ((tm_owner *)w->owners->owners.data)[i].calls = calls[keys[i].name];
    free(calls);
    return true;
}

tm_status tm_owners_find(const tm_rank_view *view, tm_owner_class *is_owner, tm_owners *out,
                         tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    const tm_memory_attr *records = timeline->attrs[TM_ATTR_MEMORY];
    size_t n = timeline->n_attrs[TM_ATTR_MEMORY];
    *out = (tm_owners){.of = calloc(n + 1, sizeof *out->of)};
    out->keys = TM_KEYS(tm_owner_key);
    out->owners = TM_VEC(tm_owner);
    walk w = {.view = view, .is_owner = is_owner, .owners = out, .open = TM_VEC(open_op)};
    bool ok = out->of != NULL;
    for (size_t t = 0; ok && t < timeline->n_tracks && w.next < n; t++) {
        const tm_track *track = &timeline->tracks[t];
        /* Skips threads without records. If the next record is on an earlier track, the unsigned
         * difference is large, so this thread is also skipped. */
        if (records[w.next].event - track->first < track->count)
            ok = walk_thread(&w, track);
    }
    tm_vec_free(&w.open);
    return ok && count_calls(&w) ? TM_OK : tm_fail_memory(err);
}

void tm_owners_count_peak(const tm_timeline *timeline, const tm_device_levels *d,
                          const tm_blocks *blocks, tm_owners *owners) {
    const tm_memory_attr *records = timeline->attrs[TM_ATTR_MEMORY];
    const tm_memory_level *levels = d->levels.data;
    const tm_owner_key *keys = owners->keys.keys.data;
    tm_owner *all = owners->owners.data;
    for (size_t i = 0; i < owners->owners.n; i++)
        all[i].peak_reported = all[i].peak_reported || keys[i].device_type == d->type;
    for (size_t i = 0; i < blocks->blocks.n; i++) {
        const tm_block *b = (const tm_block *)blocks->blocks.data + i;
        uint32_t record = levels[b->taken].record;
        const tm_owner_key key = {owners->of[record], records[record].device_type};
        if (b->taken <= d->peak && b->freed > d->peak)
            all[tm_keys_find(&owners->keys, &key)].peak_bytes += b->bytes;
    }
}

void tm_owners_free(tm_owners *owners) {
    free(owners->of);
    owners->of = NULL;
    tm_keys_free(&owners->keys);
    tm_vec_free(&owners->owners);
}
