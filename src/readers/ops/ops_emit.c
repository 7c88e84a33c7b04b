#include "ops_emit.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/letters.h"

/* An operation, kept until the whole job is known. */
typedef struct operation {
    uint32_t name;
    int64_t tid, begin_ns, duration_ns, step, chunk, seq;
} operation;

void tm_ops_emitter_init(tm_ops_emitter *emitter, int64_t rank, tm_names *names, tm_trace *trace) {
    *emitter = (tm_ops_emitter){
        .rank = rank,
        .names = names,
        .operations = TM_VEC(operation),
        .members = TM_VEC(int64_t),
    };
    tm_part_init(&emitter->part, trace);
}

void tm_ops_emitter_free(tm_ops_emitter *emitter) {
    tm_part_free(&emitter->part);
    tm_vec_free(&emitter->operations);
    tm_vec_free(&emitter->members);
}

static uint32_t number_text(tm_ops_emitter *e, int64_t number) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    return tm_names_intern_string(e->names, text);
}

static bool add_label(tm_ops_emitter *e, const tm_ops_event *event) {
    tm_label label = {
        .pid = number_text(e, event->pid),
        .tid = number_text(e, event->tid),
        .text = tm_names_intern(e->names, event->label.bytes, event->label.size),
        .process = event->name.size == 12 && memcmp(event->name.bytes, "process_name", 12) == 0,
    };
    e->part.trace->counts[TM_COUNT_METADATA]++;
    if (event->label.size == 0)
        return true;
    return label.pid != TM_NAME_FAILED && label.tid != TM_NAME_FAILED &&
           label.text != TM_NAME_FAILED && tm_vec_append(&e->part.labels, &label, 1);
}

bool tm_ops_emitter_add(tm_ops_emitter *e, const tm_ops_event *event) {
    bool own = event->tid >= 0 && event->tid / TM_OPS_THREADS == e->rank;
    /* An event without a thread names a process. All ranks with the same data rank share the
     * process. */
    bool process = event->phase == 'M' && event->tid < 0;
    int64_t *counts = e->part.trace->counts;
    if (!own && !process)
        return true;
    if (event->phase == 'M')
        return add_label(e, event);
    if (!tm_ops_is_operation(event)) {
        counts[event->phase == 'X' ? TM_COUNT_NO_TIME : TM_COUNT_OTHER_PHASE]++;
        return true;
    }
    const operation kept = {
        .name = tm_names_intern(e->names, event->name.bytes, event->name.size),
        .tid = event->tid,
        .begin_ns = event->begin_ns,
        .duration_ns = event->duration_ns,
        .step = event->step,
        .chunk = event->chunk,
        .seq = event->seq,
    };
    return kept.name != TM_NAME_FAILED && tm_vec_append(&e->operations, &kept, 1);
}

/* Returns the ranks of a group as profilers write them: "[0, 2, 4, 6]". */
static uint32_t list_text(tm_ops_emitter *e) {
    const int64_t *members = e->members.data;
    tm_vec text = TM_VEC(char);
    char part[32];
    bool ok = true;
    for (size_t i = 0; i < e->members.n && ok; i++) {
        int size = snprintf(part, sizeof part, "%s%" PRId64, i ? ", " : "[", members[i]);
        ok = tm_vec_append(&text, part, (size_t)size) != NULL;
    }
    ok = ok && tm_vec_append(&text, "]", 1);
    uint32_t name = ok ? tm_names_intern(e->names, text.data, text.n) : TM_NAME_FAILED;
    tm_vec_free(&text);
    return name;
}

/* Returns an id that is equal on all ranks of an operation and unique in its group. */
static int64_t identity_of(const operation *op, tm_text name) {
    int64_t numbers[2] = {op->step, op->seq}, identity;
    uint64_t hash = tm_hash_mixed(tm_hash_mixed(1, name.bytes, name.size), numbers, sizeof numbers);
    memcpy(&identity, &hash, sizeof identity);
    return identity ? identity : 1; /* 0 means none */
}

static bool add_collective(tm_ops_emitter *e, const tm_ops_job *job, const operation *op,
                           tm_ops_kind kind, uint32_t row) {
    static const char *const descriptions[] = {[TM_OPS_TRANSFER] = "pipeline parallel",
                                               [TM_OPS_DATA] = "data parallel",
                                               [TM_OPS_TENSOR] = "tensor parallel",
                                               [TM_OPS_ENDS] = "embeddings",
                                               [TM_OPS_ALL] = "all ranks"};
    const tm_text text = tm_names_text(e->names, op->name);
    const tm_json_text name = {.bytes = text.bytes, .size = text.size};
    const tm_ops_rank *rank = tm_ops_job_rank(job, e->rank);
    tm_collective_attr attr = tm_collective_bare(row);
    attr.comms_id = kind == TM_OPS_TRANSFER ? 0 : identity_of(op, text);
    attr.seq = op->seq;
    attr.name = op->name;
    attr.group_description = tm_names_intern_string(e->names, descriptions[kind]);
    e->members.n = 0;
    if (!tm_ops_job_group(job, rank, kind, &e->members))
        return false;
    if (e->members.n > 0) {
        attr.group_ranks = list_text(e);
        attr.group_size = (int32_t)e->members.n;
        attr.group = tm_names_intern_string(e->names, "");
    }
    int32_t peer = (int32_t)tm_ops_job_peer(job, rank, &name);
    if (kind == TM_OPS_TRANSFER && tm_ends_with(name.bytes, name.size, "send"))
        attr.dst_rank = peer;
    else if (kind == TM_OPS_TRANSFER)
        attr.src_rank = peer;
    return attr.group_ranks != TM_NAME_FAILED && attr.group_description != TM_NAME_FAILED &&
           tm_vec_append(&e->part.trace->attrs[TM_ATTR_COLLECTIVE], &attr, 1);
}

/* Returns the name with the model chunk, so that operations of different chunks differ. */
static uint32_t name_of(tm_ops_emitter *e, const tm_ops_job *job, const operation *op) {
    char text[128];
    if (job->last_chunk <= 0 || op->chunk < 0)
        return op->name;
    snprintf(text, sizeof text, "%.80s, chunk %" PRId64, tm_names_text(e->names, op->name).bytes,
             op->chunk);
    return tm_names_intern_string(e->names, text);
}

/* Returns the track. Operations of one kind run in sequence, but a send and a receive of one thread
 * may overlap. */
static uint32_t track_of(tm_ops_emitter *e, uint32_t pid, const operation *op, tm_ops_kind kind) {
    char text[128];
    const char *name = tm_names_text(e->names, op->name).bytes;
    snprintf(text, sizeof text, "%" PRId64 "%s%.80s", op->tid, kind < TM_OPS_TRANSFER ? "" : " ",
             kind < TM_OPS_TRANSFER ? "" : name);
    return tm_trace_track(e->part.trace, kind == TM_OPS_HOST ? TM_TRACK_CPU : TM_TRACK_GPU, pid,
                          tm_names_intern_string(e->names, text));
}

static bool emit(tm_ops_emitter *e, const tm_ops_job *job, uint32_t pid, const operation *op) {
    tm_trace *trace = e->part.trace;
    const tm_text text = tm_names_text(e->names, op->name);
    const tm_json_text name = {.bytes = text.bytes, .size = text.size};
    tm_ops_kind kind = tm_ops_kind_of(&name);
    /* A negative duration: by its own clock, the rank ended before the last rank arrived. */
    bool early = op->duration_ns < 0;
    if (early && kind < TM_OPS_TRANSFER) {
        trace->counts[TM_COUNT_NEGATIVE_DURATION]++;
        return true;
    }
    int64_t begin = op->begin_ns - tm_ops_job_early(job, op->step);
    const tm_raw_event raw = {
        .begin_ns = early ? begin + op->duration_ns : begin,
        .duration_ns = early ? 0 : op->duration_ns,
        .name = name_of(e, job, op),
        .track = track_of(e, pid, op, kind),
        .category = kind == TM_OPS_HOST ? TM_CAT_USER_ANNOTATION : TM_CAT_KERNEL,
        .kind = TM_DURATION,
        .launch = TM_NO_EVENT,
    };
    if (raw.name == TM_NAME_FAILED || raw.track == UINT32_MAX ||
        trace->events.n >= TM_NO_EVENT - 1 || !tm_vec_append(&trace->events, &raw, 1))
        return false;
    return kind < TM_OPS_TRANSFER ||
           add_collective(e, job, op, kind, (uint32_t)(trace->events.n - 1));
}

/* Adds the steps. A step is the same on every rank: from its earliest start to its latest end on
 * any rank. */
static bool mark_steps(tm_ops_emitter *e, const tm_ops_job *job, uint32_t pid) {
    tm_trace *trace = e->part.trace;
    const tm_ops_step *steps = job->steps.data;
    uint32_t track =
        tm_trace_track(trace, TM_TRACK_CPU, pid, tm_names_intern_string(e->names, "steps"));
    for (size_t i = 0; i < job->steps.n; i++) {
        char text[40];
        snprintf(text, sizeof text, "step %" PRId64, steps[i].number);
        const tm_raw_event raw = {
            .begin_ns = steps[i].begin_ns,
            .duration_ns = steps[i].end_ns - steps[i].begin_ns,
            .name = tm_names_intern_string(e->names, text),
            .track = track,
            .category = TM_CAT_USER_ANNOTATION,
            .kind = TM_DURATION,
            .launch = TM_NO_EVENT,
        };
        if (track == UINT32_MAX || raw.name == TM_NAME_FAILED ||
            !tm_vec_append(&trace->events, &raw, 1))
            return false;
    }
    return true;
}

/* Sets the metadata that the replay needs about a rank. */
static bool describe(tm_ops_emitter *e, const tm_ops_job *job, const tm_ops_rank *rank) {
    char text[320];
    int n = snprintf(text, sizeof text, "{\"distributedInfo\":{\"rank\":%" PRId64 ",%s,%s", e->rank,
                     TM_TRANSFERS_ALONE, TM_FILE_CLOCK);
    if (rank->stage >= 0)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      ",\"data_rank\":%" PRId64 ",\"stage\":%" PRId64 ",\"tensor_rank\":%" PRId64
                      ",\"stages\":%" PRId64 ",\"chunks\":%" PRId64,
                      rank->data, rank->stage, rank->tensor, job->last_stage + 1,
                      job->last_chunk + 1);
    snprintf(text + n, sizeof text - (size_t)n, "}}");
    e->part.trace->metadata = tm_names_intern_string(e->names, text);
    return e->part.trace->metadata != TM_NAME_FAILED;
}

tm_status tm_ops_emit(tm_ops_emitter *e, const tm_ops_job *job, tm_error *err) {
    tm_trace *trace = e->part.trace;
    const operation *operations = e->operations.data;
    const tm_ops_rank *rank = tm_ops_job_rank(job, e->rank);
    if (!rank)
        return TM_OK;
    if (!describe(e, job, rank))
        return tm_fail_memory(err);
    trace->rank = e->rank;
    uint32_t pid = number_text(e, rank->data);
    bool ok = pid != TM_NAME_FAILED;
    for (size_t i = 0; i < e->operations.n && ok; i++)
        ok = emit(e, job, pid, &operations[i]);
    if (!ok || !mark_steps(e, job, pid))
        return tm_fail_memory(err);
    tm_part_finish(&e->part);
    return TM_OK;
}
