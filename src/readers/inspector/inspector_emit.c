#include "inspector_emit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "timeline/classify.h"

/* A record, with its texts as name ids. */
typedef struct operation {
    const tm_inspector_record *record;
    tm_collective_kind kind;
    uint32_t name, communicator, description;
} operation;

/* Computes an operation's times. A host thread polls for the start and the stop of the kernel, so
 * it sees both late, and the start with more delay than the stop. The duration is exact, because it
 * comes from the GPU's clock. The end is therefore the earlier of two times: the observed stop, and
 * the observed start plus the duration. */
static bool times_of(const tm_inspector_record *r, int64_t *begin_ns, int64_t *duration_ns) {
    const int64_t most_us = INT64_C(3000000000000000);
    int64_t end_us = r->stop_us, took_us = r->stop_us - r->start_us;
    if (r->start_us <= 0 || r->stop_us > most_us || took_us > TM_DAY_NS / 1000)
        return false;
    if (tm_json_is(&r->source, "kernel_gpu")) {
        took_us = r->exec_us;
        end_us = end_us < r->start_us + took_us ? end_us : r->start_us + took_us;
    }
    *begin_ns = (end_us - took_us) * 1000;
    *duration_ns = took_us * 1000;
    return *begin_ns >= 0;
}

/* Returns an id that is equal on all ranks of an operation and unique in its communicator. Each
 * function has its own numbering, so the id includes the function. Transfers have no id, because
 * each rank numbers them separately. */
static int64_t identity_of(const operation *o) {
    const tm_inspector_record *r = o->record;
    int64_t numbers[2] = {o->kind, r->sn}, identity;
    uint64_t hash = tm_hash_mixed(tm_hash_mixed(2, r->communicator.bytes, r->communicator.size),
                                  numbers, sizeof numbers);
    memcpy(&identity, &hash, sizeof identity);
    return tm_collective_is_one_way(o->kind) || r->sn < 0 ? 0 : identity | 1; /* 0 means none */
}

/* Returns the total size of all ranks' parts [bytes]; -1 if unknown or implausible. */
static int64_t of_all(const tm_inspector_record *r) {
    return r->bytes >= 0 && r->bytes < INT64_MAX / 64 / r->n_ranks ? r->bytes * r->n_ranks : -1;
}

static bool add_row(tm_inspector_emitter *e, const operation *o, uint32_t event) {
    const tm_inspector_record *r = o->record;
    int32_t peer = r->peer >= 0 && r->peer < r->n_ranks ? (int32_t)r->peer : -1;
    tm_collective_attr row = tm_collective_bare(event);
    bool to_all = o->kind == TM_COLL_ALLTOALL || o->kind == TM_COLL_REDUCESCATTER;
    bool from_all = o->kind == TM_COLL_ALLTOALL || o->kind == TM_COLL_ALLGATHER;
    row.comms_id = identity_of(o);
    row.in_elements = o->kind == TM_COLL_RECV ? -1 : to_all ? of_all(r) : r->bytes;
    row.out_elements = o->kind == TM_COLL_SEND ? -1 : from_all ? of_all(r) : r->bytes;
    row.group_size = (int32_t)r->n_ranks;
    row.src_rank = o->kind == TM_COLL_RECV ? peer : -1;
    row.dst_rank = o->kind == TM_COLL_SEND ? peer : -1;
    row.name = tm_names_intern_string(e->names, tm_collective_word(o->kind));
    row.dtype = tm_names_intern_string(e->names, "Byte");
    row.group = o->communicator;
    row.group_description = o->description;
    return row.name != TM_NAME_FAILED && row.dtype != TM_NAME_FAILED &&
           tm_vec_append(&e->trace->attrs[TM_ATTR_COLLECTIVE], &row, 1);
}

/* Adds the record's communicator if it is new. There are few communicators, and the record usually
 * has the one that was added last. So a search from the end is fast. */
static bool note_communicator(tm_inspector_emitter *e, const operation *o) {
    const tm_inspector_record *r = o->record;
    const tm_communicator *v = e->trace->communicators.data;
    for (size_t i = e->trace->communicators.n; i-- > 0;)
        if (v[i].name == o->communicator)
            return true;
    const tm_communicator added = {.name = o->communicator,
                                   .n_ranks = (int32_t)r->n_ranks,
                                   .place = (int32_t)r->rank,
                                   .used = true,
                                   .numbered = true,
                                   .nccl = tm_inspector_id_of(r)};
    return tm_vec_append(&e->trace->communicators, &added, 1);
}

/* Returns the track. Kernels of a communicator run in sequence, except for sends and receives of
 * one group. */
static uint32_t track_of(tm_inspector_emitter *e, const operation *o) {
    char text[64];
    snprintf(text, sizeof text, "%" PRId64, o->record->pid);
    uint32_t pid = tm_names_intern_string(e->names, text);
    snprintf(text, sizeof text, "communicator %s%s%s",
             tm_names_text(e->names, o->communicator).bytes,
             tm_collective_is_one_way(o->kind) ? " " : "",
             tm_collective_is_one_way(o->kind) ? tm_collective_word(o->kind) : "");
    uint32_t tid = tm_names_intern_string(e->names, text);
    if (pid == TM_NAME_FAILED || tid == TM_NAME_FAILED)
        return UINT32_MAX;
    return tm_trace_track(e->trace, TM_TRACK_GPU, pid, tid);
}

/* Returns a name such as "ncclAllReduce". Records do not have the name of the kernel. */
static uint32_t name_of(tm_inspector_emitter *e, const tm_json_text *function) {
    char text[64];
    int size = function->size < 48 ? (int)function->size : 48;
    snprintf(text, sizeof text, "nccl%.*s", size, function->bytes);
    return tm_names_intern_string(e->names, text);
}

static bool read_texts(tm_inspector_emitter *e, const tm_inspector_record *r, operation *out) {
    bool described = r->description.size > 0 && !r->description.escaped &&
                     !tm_json_is(&r->description, "unknown");
    *out = (operation){
        r, tm_collective_kind_of_name(r->function.bytes, r->function.size),
        name_of(e, &r->function),
        tm_names_intern(e->names, r->communicator.bytes + 2, r->communicator.size - 2), TM_NO_NAME};
    if (described)
        out->description = tm_names_intern(e->names, r->description.bytes, r->description.size);
    if (e->trace->host == TM_NO_NAME && r->host.size > 0)
        e->trace->host = tm_names_intern(e->names, r->host.bytes, r->host.size);
    return out->name != TM_NAME_FAILED && out->communicator != TM_NAME_FAILED &&
           out->description != TM_NAME_FAILED && e->trace->host != TM_NAME_FAILED;
}

bool tm_inspector_emit(void *emitter, const tm_inspector_record *record) {
    tm_inspector_emitter *e = emitter;
    tm_trace *trace = e->trace;
    tm_raw_event raw = {.category = TM_CAT_KERNEL, .kind = TM_DURATION, .launch = TM_NO_EVENT};
    operation o;
    if (e->unit && (record->rank != e->unit->rank || record->n_ranks != e->largest)) {
        trace->counts[TM_COUNT_OTHER_GPU] += record->n_ranks != e->largest;
        return true;
    }
    if (!times_of(record, &raw.begin_ns, &raw.duration_ns)) {
        trace->counts[TM_COUNT_NO_TIME]++;
        return true;
    }
    if (!read_texts(e, record, &o) || !note_communicator(e, &o))
        return false;
    raw.name = o.name;
    raw.track = track_of(e, &o);
    if (raw.track == UINT32_MAX || trace->events.n >= TM_NO_EVENT - 1 ||
        !tm_vec_append(&trace->events, &raw, 1))
        return false;
    uint32_t event = (uint32_t)(trace->events.n - 1);
    return tm_trace_add_kernel(trace, event, 0, NULL) && add_row(e, &o, event);
}
