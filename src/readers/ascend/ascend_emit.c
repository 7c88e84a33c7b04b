#include "ascend_emit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ascend_collective.h"
#include "ascend_kinds.h"
#include "ascend_peers.h"
#include "ascend_shapes.h"
#include "base/sums.h"
#include "readers/chrome.h"
#include "readers/number.h"

/* The profiler makes one process for each layer (CANN, HCCL, ...) of a process and device. The id
 * of such a process is pid * 1024 + layer * 32 + device. */
enum { LAYER_BITS = 10, DEVICE_MASK = 31 };

void tm_ascend_emitter_init(tm_ascend_emitter *emitter, tm_part *part, tm_names *names,
                            const tm_ascend_groups *groups) {
    *emitter = (tm_ascend_emitter){.part = part,
                                   .trace = part->trace,
                                   .names = names,
                                   .groups = groups,
                                   .scratch = TM_VEC(char),
                                   .processes = TM_VEC(tm_ascend_process),
                                   .unsure = TM_VEC(uint32_t),
                                   .carrying = TM_VEC(uint32_t),
                                   .mesh = TM_VEC(uint32_t)};
    for (int i = 0; i < TM_ASCEND_PLACES; i++)
        emitter->places[i].pid_size = UINT8_MAX;
    tm_ascend_flows_init(&emitter->flows);
}

void tm_ascend_emitter_free(tm_ascend_emitter *emitter) {
    TM_VECS_FREE(&emitter->scratch, &emitter->processes, &emitter->unsure, &emitter->carrying,
                 &emitter->mesh);
    tm_ascend_flows_free(&emitter->flows);
}

static uint32_t intern(tm_ascend_emitter *e, const tm_json_text *text) {
    return tm_chrome_intern(e->names, &e->scratch, text);
}

static int64_t number_of(const tm_json_text *text) {
    int64_t number;
    bool digits = text->size > 0 && text->size < 19;
    for (size_t i = 0; i < text->size; i++)
        digits = digits && text->bytes[i] >= '0' && text->bytes[i] <= '9';
    return digits && tm_number_scaled(text->bytes, text->size, 0, &number) ? number : -1;
}

/* Finds the process with this id, adding it if it is new; NULL if out of memory. */
static tm_ascend_process *process_of(tm_ascend_emitter *e, const tm_json_text *pid) {
    tm_ascend_process *v = e->processes.data, added = {.number = number_of(pid)};
    size_t size = pid->size < TM_ASCEND_KEY_MAX ? pid->size : TM_ASCEND_KEY_MAX, i = e->last;
    if (i < e->processes.n && v[i].size == size && memcmp(v[i].text, pid->bytes, size) == 0)
        return &v[i];
    for (i = 0; i < e->processes.n; i++)
        if (v[i].size == size && memcmp(v[i].text, pid->bytes, size) == 0)
            break;
    e->last = i;
    if (i < e->processes.n)
        return &v[i];
    memcpy(added.text, pid->bytes, size);
    added.size = (uint8_t)size;
    return tm_vec_append(&e->processes, &added, 1);
}

static bool name_process(tm_ascend_emitter *e, const tm_chrome_event *event) {
    static const struct {
        const char *name;
        tm_ascend_layer layer;
    } known[] = {{"Python", TM_ASCEND_PYTHON},          {"CANN", TM_ASCEND_CANN},
                 {"Ascend Hardware", TM_ASCEND_DEVICE}, {"HCCL", TM_ASCEND_HCCL},
                 {"Communication", TM_ASCEND_HCCL},     {"Overlap Analysis", TM_ASCEND_OVERLAP}};
    tm_ascend_process *process = process_of(e, &event->pid);
    if (!process)
        return false;
    process->layer = TM_ASCEND_OTHER_LAYER;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (tm_json_is(&event->fields[F_NAME].text, known[i].name))
            process->layer = (uint8_t)known[i].layer;
    return true;
}

/* Guesses the layer of an event whose process has no name, or none yet. */
static tm_ascend_layer layer_by_content(const tm_chrome_event *event) {
    if (event->has_category)
        return TM_ASCEND_PYTHON;
    if (tm_chrome_has(event, F_TASK_TYPE))
        return TM_ASCEND_DEVICE;
    if (tm_chrome_has(event, F_PART_TYPE) || tm_json_begins(&event->name, "hcom_"))
        return TM_ASCEND_HCCL;
    return tm_chrome_has(event, F_MODE) ? TM_ASCEND_CANN : TM_ASCEND_UNKNOWN;
}

/* Returns the track of an event, creating it if needed; UINT32_MAX if out of memory. Calls of the
 * CANN layer are put on the threads of the Python process, which make these calls. */
static uint32_t add_track(tm_ascend_emitter *e, const tm_chrome_event *event, tm_track_kind kind,
                          tm_ascend_layer layer) {
    const tm_ascend_process *process = process_of(e, &event->pid);
    char text[TM_ASCEND_KEY_MAX];
    tm_json_text pid = event->pid;
    if (!process)
        return UINT32_MAX;
    if (layer == TM_ASCEND_CANN && process->number >> LAYER_BITS > 0) {
        pid.bytes = text;
        pid.size = (size_t)snprintf(text, sizeof text, "%" PRId64, process->number >> LAYER_BITS);
    }
    size_t known = e->trace->tracks.n;
    uint32_t pid_name = intern(e, &pid), tid_name = intern(e, &event->tid);
    if (pid_name == TM_NAME_FAILED || tid_name == TM_NAME_FAILED)
        return UINT32_MAX;
    uint32_t index = tm_trace_track(e->trace, kind, pid_name, tid_name);
    if (index == UINT32_MAX || e->trace->tracks.n == known || kind != TM_TRACK_GPU)
        return index;
    tm_track *track = (tm_track *)e->trace->tracks.data + index;
    track->device = process->number < 0 ? -1 : (int32_t)(process->number & DEVICE_MASK);
    track->stream = layer == TM_ASCEND_DEVICE ? number_of(&event->tid) : -1;
    return index;
}

static uint32_t track_of(tm_ascend_emitter *e, const tm_chrome_event *event, tm_track_kind kind,
                         tm_ascend_layer layer) {
    const tm_json_text *pid = &event->pid, *tid = &event->tid;
    if (pid->size > TM_ASCEND_KEY_MAX || tid->size > TM_ASCEND_KEY_MAX)
        return add_track(e, event, kind, layer);
    unsigned p = pid->size ? (unsigned char)pid->bytes[pid->size - 1] : 0;
    unsigned t = tid->size ? (unsigned char)tid->bytes[tid->size - 1] : 0;
    tm_ascend_place *place =
        &e->places[(t + 5u * (unsigned)tid->size + 7u * p + 11u * layer) % TM_ASCEND_PLACES];
    if (place->pid_size == pid->size && place->tid_size == tid->size && place->kind == kind &&
        place->layer == layer && memcmp(place->pid, pid->bytes, pid->size) == 0 &&
        memcmp(place->tid, tid->bytes, tid->size) == 0)
        return place->track;
    place->track = add_track(e, event, kind, layer);
    place->pid_size = (uint8_t)pid->size;
    place->tid_size = (uint8_t)tid->size;
    place->kind = (uint8_t)kind;
    place->layer = (uint8_t)layer;
    memcpy(place->pid, pid->bytes, pid->size);
    memcpy(place->tid, tid->bytes, tid->size);
    return place->track;
}

static bool add_event(tm_ascend_emitter *e, const tm_chrome_event *event, const tm_raw_event *raw) {
    int64_t *counts = e->trace->counts;
    if (raw->name == TM_NAME_FAILED || raw->track == UINT32_MAX ||
        e->trace->events.n >= TM_NO_EVENT - 1 || !tm_vec_append(&e->trace->events, raw, 1))
        return false;
    counts[TM_COUNT_NO_NAME] += !event->has_name;
    counts[TM_COUNT_ZERO_TIME] += event->ts_ns == 0;
    counts[TM_COUNT_OTHER_CATEGORY] += raw->category == TM_CAT_OTHER;
    counts[TM_COUNT_BAD_VALUE] += event->bad_values;
    return true;
}

static tm_raw_event named_of(tm_ascend_emitter *e, const tm_chrome_event *event,
                             const tm_json_text *name, tm_category category) {
    return (tm_raw_event){.begin_ns = event->ts_ns,
                          .duration_ns = event->duration_ns,
                          .name = name ? intern(e, name) : TM_NO_NAME,
                          .category = (uint8_t)category,
                          .kind = TM_DURATION,
                          .launch = TM_NO_EVENT};
}

static tm_raw_event raw_of(tm_ascend_emitter *e, const tm_chrome_event *event,
                           tm_category category) {
    return named_of(e, event, event->has_name ? &event->name : NULL, category);
}

/* Returns the name of a copy, with its direction as other profilers write it. */
static uint32_t copy_name(tm_ascend_emitter *e, const tm_chrome_event *event) {
    static const tm_json_text none = {.bytes = ""};
    char text[96];
    const char *direction = tm_ascend_direction(
        &event->fields[F_TASK_TYPE].text,
        tm_chrome_has(event, F_DIRECTION) ? &event->fields[F_DIRECTION].text : &none);
    if (!*direction || !event->has_name || event->name.escaped || event->name.size > 64)
        return event->has_name ? intern(e, &event->name) : TM_NO_NAME;
    snprintf(text, sizeof text, "%.*s (%s)", (int)event->name.size, event->name.bytes, direction);
    return tm_names_intern_string(e->names, text);
}

static bool carries_parts(const tm_ascend_emitter *e, uint32_t track) {
    const uint32_t *v = e->carrying.data;
    for (size_t i = 0; i < e->carrying.n; i++)
        if (v[i] == track)
            return true;
    return false;
}

static bool emit_device(tm_ascend_emitter *e, const tm_chrome_event *event) {
    static const tm_json_text none = {.bytes = ""};
    bool known = false;
    tm_ascend_work work = tm_ascend_work_of(
        tm_chrome_has(event, F_TASK_TYPE) ? &event->fields[F_TASK_TYPE].text : &none, &event->name,
        &known);
    bool copies = work == TM_ASCEND_COPIES || work == TM_ASCEND_COPIES_OR_PART;
    tm_raw_event raw = raw_of(e, event,
                              work == TM_ASCEND_COMPUTES ? TM_CAT_KERNEL
                              : copies                   ? TM_CAT_MEMCPY
                                                         : TM_CAT_GPU_ANNOTATION);
    uint32_t row = (uint32_t)e->trace->events.n;
    raw.track = track_of(e, event, TM_TRACK_GPU, TM_ASCEND_DEVICE);
    raw.name = copies ? copy_name(e, event) : raw.name;
    e->trace->counts[TM_COUNT_OTHER_TASK] += !known;
    if (!add_event(e, event, &raw) ||
        (work == TM_ASCEND_COPIES_OR_PART && !tm_vec_append(&e->unsure, &row, 1)) ||
        (work == TM_ASCEND_PART && !carries_parts(e, raw.track) &&
         !tm_vec_append(&e->carrying, &raw.track, 1)))
        return false;
    const tm_copy_attr copy = {
        .bytes = tm_chrome_int(event, F_BYTES, -1), .bandwidth_gbps = NAN, .event = row};
    if (copies)
        return tm_vec_append(&e->trace->attrs[TM_ATTR_COPY], &copy, 1) != NULL;
    return work != TM_ASCEND_COMPUTES || tm_trace_add_kernel(e->trace, row, 0, NULL);
}

static bool add_collective(tm_ascend_emitter *e, const tm_chrome_event *event,
                           const tm_ascend_operation *op, uint32_t row) {
    uint32_t group = tm_ascend_groups_find(e->groups, &event->name);
    bool has_type = tm_chrome_has(event, F_DTYPE);
    bool mesh =
        tm_chrome_has(event, F_ALGORITHM) && tm_ascend_is_mesh(&event->fields[F_ALGORITHM].text);
    const tm_ascend_collective reported = {
        .op = op,
        .dtype =
            has_type ? tm_ascend_dtype(&event->fields[F_DTYPE].text) : (tm_json_text){.size = 0},
        .count = tm_chrome_int(event, F_COUNT, -1),
        .group = group != TM_NO_NAME ? group : intern(e, &op->group),
    };
    return tm_ascend_add_collective(e->trace, e->names, &reported, row) &&
           (!mesh || tm_vec_append(&e->mesh, &row, 1));
}

/* Adds an HCCL event. An operation's name is its kind; its group and sequence number become
 * attributes. */
static bool emit_hccl(tm_ascend_emitter *e, const tm_chrome_event *event) {
    tm_ascend_operation op;
    bool whole = event->has_name && tm_ascend_operation_of(&event->name, &op);
    tm_raw_event raw = whole ? named_of(e, event, &op.name, TM_CAT_KERNEL)
                             : raw_of(e, event, TM_CAT_GPU_ANNOTATION);
    uint32_t row = (uint32_t)e->trace->events.n;
    raw.track = track_of(e, event, TM_TRACK_GPU, TM_ASCEND_HCCL);
    return add_event(e, event, &raw) && (!whole || add_collective(e, event, &op, row));
}

static tm_category python_category(const tm_chrome_event *event) {
    if (tm_json_is(&event->category, "enqueue") || tm_json_is(&event->category, "dequeue"))
        return TM_CAT_RUNTIME;
    if (tm_json_begins(&event->name, "ProfilerStep#"))
        return TM_CAT_USER_ANNOTATION;
    tm_category category = event->has_category
                               ? tm_category_of(event->category.bytes, event->category.size)
                               : TM_CAT_NONE;
    return tm_category_is_gpu(category) ? TM_CAT_OTHER : category;
}

static bool emit_operator(tm_ascend_emitter *e, const tm_chrome_event *event, uint32_t row) {
    const tm_operator_attr reported = {
        .sequence = tm_chrome_int(event, F_SEQUENCE, -1),
        .event = row,
        .forward = TM_NO_EVENT,
        .thread = tm_narrow_i32(tm_chrome_int(event, F_FORWARD_THREAD, 0)),
    };
    bool has_stack = tm_chrome_has(event, F_CALL_STACK);
    return tm_chrome_operator(e->trace, e->names, &e->scratch, &reported,
                              has_stack ? &event->fields[F_CALL_STACK].text : NULL) &&
           (!tm_chrome_has(event, F_DIMS) ||
            tm_ascend_shapes_add(e->trace, e->names, &e->scratch, &event->fields[F_DIMS].text,
                                 row));
}

static bool emit_python(tm_ascend_emitter *e, const tm_chrome_event *event) {
    tm_category category = python_category(event);
    tm_raw_event raw = raw_of(e, event, category);
    uint32_t row = (uint32_t)e->trace->events.n;
    raw.track = track_of(e, event, TM_TRACK_CPU, TM_ASCEND_PYTHON);
    if (!add_event(e, event, &raw))
        return false;
    if (category == TM_CAT_RUNTIME && tm_chrome_has(event, F_QUEUE_ID))
        return tm_ascend_flows_queue(&e->flows, tm_json_is(&event->category, "dequeue"),
                                     event->fields[F_QUEUE_ID].i, row);
    return category != TM_CAT_CPU_OP || emit_operator(e, event, row);
}

static bool emit_host(tm_ascend_emitter *e, const tm_chrome_event *event, tm_ascend_layer layer) {
    tm_raw_event raw = raw_of(e, event, layer == TM_ASCEND_CANN ? TM_CAT_RUNTIME : TM_CAT_OTHER);
    raw.track = track_of(e, event, TM_TRACK_CPU, layer);
    return add_event(e, event, &raw);
}

static bool emit_duration(tm_ascend_emitter *e, const tm_chrome_event *event) {
    tm_count wrong = tm_chrome_wrong_times(event, TM_DURATION);
    const tm_ascend_process *process = process_of(e, &event->pid);
    if (!process)
        return false;
    if (wrong != TM_N_COUNTS) {
        e->trace->counts[wrong]++;
        return true;
    }
    tm_ascend_layer layer =
        process->layer == TM_ASCEND_UNKNOWN ? layer_by_content(event) : process->layer;
    switch (layer) {
    case TM_ASCEND_PYTHON:
        return emit_python(e, event);
    case TM_ASCEND_DEVICE:
        return emit_device(e, event);
    case TM_ASCEND_HCCL:
        return emit_hccl(e, event);
    case TM_ASCEND_OVERLAP:
        tm_ascend_overlap_add(&e->overlap, &event->name, event->duration_ns);
        return true;
    default:
        return emit_host(e, event, layer);
    }
}

typedef struct counter_context {
    tm_ascend_emitter *emitter;
    const tm_chrome_event *event;
    uint32_t row;
} counter_context;

/* Adds one counter value. If several hardware units have a counter of this name, the event's args
 * name the unit. */
static bool emit_series(void *context, const tm_json_text *key, double value) {
    const counter_context *c = context;
    char text[48];
    if (tm_json_is(key, "acc_id"))
        return true;
    bool unit = tm_chrome_has(c->event, F_ACC);
    snprintf(text, sizeof text, "acc %" PRId64, tm_chrome_int(c->event, F_ACC, 0));
    const tm_counter_attr attr = {.value = value,
                                  .event = c->row,
                                  .series = unit ? tm_names_intern_string(c->emitter->names, text)
                                                 : intern(c->emitter, key)};
    return attr.series != TM_NAME_FAILED &&
           tm_vec_append(&c->emitter->trace->attrs[TM_ATTR_COUNTER], &attr, 1);
}

static bool emit_counter(tm_ascend_emitter *e, tm_json_cursor *cursor,
                         const tm_chrome_event *event) {
    tm_count wrong = tm_chrome_wrong_times(event, TM_COUNTER);
    if (wrong != TM_N_COUNTS) {
        e->trace->counts[wrong]++;
        return true;
    }
    tm_raw_event raw = raw_of(e, event, TM_CAT_NONE);
    raw.kind = TM_COUNTER;
    raw.duration_ns = 0;
    raw.track = track_of(e, event, TM_TRACK_CPU, TM_ASCEND_OTHER_LAYER);
    counter_context context = {e, event, (uint32_t)e->trace->events.n};
    return add_event(e, event, &raw) &&
           (!event->args || tm_chrome_counters(cursor, event->args, true, emit_series, &context));
}

/* Adds one end of an arrow: arrows start on a host thread and end on the device. */
static bool emit_arrow(tm_ascend_emitter *e, const tm_chrome_event *event) {
    bool start = event->phase == 's', to_device = tm_json_is(&event->category, "HostToDevice");
    bool async = tm_json_is(&event->category, "async_npu");
    e->trace->counts[TM_COUNT_FLOW]++;
    if ((!to_device && !async) || event->id.size == 0 ||
        tm_chrome_wrong_times(event, TM_INSTANT) != TM_N_COUNTS)
        return true;
    const tm_ascend_process *process = process_of(e, &event->pid);
    if (!process)
        return false;
    bool python = process->layer == TM_ASCEND_PYTHON || !to_device;
    tm_ascend_layer layer = start ? python ? TM_ASCEND_PYTHON : TM_ASCEND_CANN
                            : process->layer == TM_ASCEND_HCCL ? TM_ASCEND_HCCL
                                                               : TM_ASCEND_DEVICE;
    uint32_t track = track_of(e, event, start ? TM_TRACK_CPU : TM_TRACK_GPU, layer);
    return track != UINT32_MAX &&
           tm_ascend_flows_add(&e->flows, to_device ? TM_ASCEND_TO_DEVICE : TM_ASCEND_ASYNC, start,
                               &event->id, track, event->ts_ns);
}

bool tm_ascend_emit(tm_ascend_emitter *e, tm_json_cursor *cursor, const tm_chrome_event *event) {
    switch (event->phase) {
    case 'X':
        return emit_duration(e, event);
    case 'C':
        return emit_counter(e, cursor, event);
    case 'M':
        e->trace->counts[TM_COUNT_METADATA]++;
        if (event->has_name && tm_json_is(&event->name, "process_name") &&
            tm_chrome_has(event, F_NAME) && !name_process(e, event))
            return false;
        return tm_chrome_label(&e->part->labels, e->names, &e->scratch, event, F_NAME);
    case 's':
    case 't':
    case 'f':
        return emit_arrow(e, event);
    default:
        e->trace->counts[TM_COUNT_OTHER_PHASE]++;
        return true;
    }
}

/* Turns copies into annotations if their stream has other parts of collectives. The copies are then
 * parts of collectives, too. */
static void settle_copies(tm_ascend_emitter *e) {
    tm_raw_event *events = e->trace->events.data;
    const uint32_t *unsure = e->unsure.data;
    tm_vec *rows = &e->trace->attrs[TM_ATTR_COPY];
    tm_copy_attr *copies = rows->data;
    size_t kept = 0;
    for (size_t i = 0; i < e->unsure.n; i++)
        if (carries_parts(e, events[unsure[i]].track))
            events[unsure[i]].category = TM_CAT_GPU_ANNOTATION;
    for (size_t i = 0; i < rows->n; i++)
        if (events[copies[i].event].category == TM_CAT_MEMCPY)
            copies[kept++] = copies[i];
    rows->n = kept;
}

tm_status tm_ascend_emitter_finish(tm_ascend_emitter *e, tm_error *err) {
    tm_ascend_overlap own;
    settle_copies(e);
    if (!tm_ascend_overlap_of(e->trace, &own))
        return tm_fail_memory(err);
    if (!e->trace->truncated)
        e->trace->counts[TM_COUNT_OTHER_SUMS] = tm_ascend_overlap_differ(&e->overlap, &own);
    TM_TRY(tm_ascend_count_peers(e->trace, e->names, &e->mesh, err));
    TM_TRY(tm_ascend_flows_link(&e->flows, e->trace, e->names, err));
    tm_part_finish(e->part);
    return TM_OK;
}
