#include "kineto_emit.h"

#include <math.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/letters.h"
#include "base/sums.h"
#include "kineto_devices.h"
#include "kineto_flows.h"
#include "kineto_host.h"
#include "kineto_name.h"
#include "readers/chrome.h"
#include "readers/number.h"
#include "timeline/counted.h"

/* MTIA's names for the wait of a stream for an event of another stream, and for the recording of
 * the event. */
#define MTIA_WAIT "event_wait"
#define MTIA_RECORD "event_record"

void tm_kineto_emitter_init(tm_kineto_emitter *emitter, tm_part *part, tm_names *names) {
    *emitter = (tm_kineto_emitter){
        .part = part,
        .trace = part->trace,
        .names = names,
        .scratch = TM_VEC(char),
    };
}

void tm_kineto_emitter_free(tm_kineto_emitter *emitter) {
    tm_vec_free(&emitter->scratch);
}

static uint32_t intern(tm_kineto_emitter *emitter, const tm_json_text *text) {
    return tm_chrome_intern(emitter->names, &emitter->scratch, text);
}

/* Returns the name id of the text of a TEXT field. Returns TM_NO_NAME if the event lacks the
 * field. */
static uint32_t text_field(tm_kineto_emitter *emitter, const tm_kineto_event *event,
                           tm_kineto_field field, bool *ok) {
    if (!tm_kineto_has(event, field))
        return TM_NO_NAME;
    uint32_t id = intern(emitter, &event->fields[field].text);
    *ok = *ok && id != TM_NAME_FAILED;
    return id;
}

static float real_field(const tm_kineto_event *event, tm_kineto_field field) {
    return tm_kineto_has(event, field) ? (float)event->fields[field].r : NAN;
}

/* Returns the occupancy [%], or NaN if it is unknown. Kineto rounds it to whole percent, so 0 is
 * valid for very few warps (an SM holds at most 64). But Kineto also writes 0 if it computes that
 * no block fits. This happens for kernels that use more shared memory than the default, such as
 * nvjet, CUTLASS, flash attention and NCCL. */
static float occupancy_of(const tm_kineto_event *event) {
    const float warps_for_half_a_percent = 0.32F;
    float occupancy =
        real_field(event, tm_kineto_has(event, F_OCCUPANCY) ? F_OCCUPANCY : F_OCCUPANCY_2021);
    float warps = real_field(event, F_WARPS_PER_SM);
    bool rounded = occupancy == 0 && warps > 0 && warps <= warps_for_half_a_percent;
    return occupancy > 0 || rounded ? occupancy : NAN;
}

/* Classifies a category. Also sets the name of the devices if the category shows it. */
static tm_kineto_class classify(tm_kineto_emitter *emitter, const tm_json_text *text) {
    const char *word = tm_kineto_device_word(text->bytes, text->size);
    if (word && word != emitter->device_word) {
        tm_mark *mark = tm_vec_push(&emitter->part->marks);
        uint32_t id = intern(emitter, text);
        if (mark)
            *mark = (tm_mark){.event = TM_NO_EVENT, .kind = TM_MARK_DEVICES, .text = id};
        if (!mark || id == TM_NAME_FAILED)
            return (tm_kineto_class){TM_CAT_OTHER, TM_KINETO_NO_MEMORY};
        emitter->device_word = word;
    }
    return tm_kineto_classify(emitter->trace->device_categories, text->bytes, text->size);
}

/* Operators have a namespace, and autograd nodes are named after the operation they differentiate.
 * All other names are user annotations. */
static bool is_operator(const tm_json_text *name) {
    return tm_holds(name->bytes, name->size, "::") || tm_holds(name->bytes, name->size, "Backward");
}

/* PyTorch's first profiler (up to 1.8) writes no categories. Host events are in one process. A
 * second process repeats the operators with their time on the device, without the names of
 * kernels. */
static tm_kineto_class class_without_category(const tm_kineto_event *event) {
    static const char host[] = "CPU functions";
    bool is_host =
        event->pid.size == sizeof host - 1 && memcmp(event->pid.bytes, host, sizeof host - 1) == 0;
    uint8_t category = !is_host                    ? TM_CAT_NONE
                       : is_operator(&event->name) ? TM_CAT_CPU_OP
                                                   : TM_CAT_USER_ANNOTATION;
    return (tm_kineto_class){category, TM_KINETO_PLAIN};
}

static tm_kineto_class class_of(tm_kineto_emitter *emitter, const tm_kineto_event *event) {
    if (!event->has_category)
        return class_without_category(event);
    const tm_json_text *text = &event->category;
    if (text->size > TM_SHORT_TEXT_MAX)
        return classify(emitter, text);
    const tm_short_text category = tm_short_text_of(text);
    tm_kineto_category_cache *cache =
        &emitter->categories[tm_short_text_hash(&category) >> (64 - TM_KINETO_CATEGORY_BITS)];
    if (!tm_short_text_is(&cache->category, &category)) {
        cache->category = category;
        /* If this runs out of memory, the reader stops. */
        cache->class = classify(emitter, text);
    }
    return cache->class;
}

/* Returns the number in a text such as "7", "stream 7" or "stream 7 ". Returns -1 if there is no
 * number, or if it is negative. */
static int64_t number_in(const tm_json_text *text) {
    size_t end = text->size;
    while (end > 0 && text->bytes[end - 1] == ' ')
        end--;
    size_t start = end;
    while (start > 0 && text->bytes[start - 1] >= '0' && text->bytes[start - 1] <= '9')
        start--;
    int64_t value;
    bool negative = start == 1 && *text->bytes == '-';
    return end > start && end - start < 19 && !negative &&
                   tm_number_scaled(text->bytes + start, end - start, 0, &value)
               ? value
               : -1;
}

/* Returns the number of a stream, or -1 if there is none. Older profilers write UINT32_MAX in that
 * case. */
static int64_t stream_field(const tm_kineto_event *event, tm_kineto_field field, int64_t missing) {
    int64_t stream = tm_kineto_int(event, field, missing);
    return stream == UINT32_MAX ? -1 : stream;
}

static uint32_t add_track(tm_kineto_emitter *emitter, const tm_kineto_event *event,
                          tm_track_kind kind) {
    uint32_t pid = intern(emitter, &event->pid);
    uint32_t tid = intern(emitter, &event->tid);
    if (pid == TM_NAME_FAILED || tid == TM_NAME_FAILED)
        return UINT32_MAX;
    size_t known = emitter->trace->tracks.n;
    uint32_t index = tm_trace_track(emitter->trace, kind, pid, tid);
    if (index == UINT32_MAX || emitter->trace->tracks.n == known || kind != TM_TRACK_GPU)
        return index;
    tm_track *track = (tm_track *)emitter->trace->tracks.data + index;
    track->device = tm_narrow_i32(tm_kineto_int(event, F_DEVICE, number_in(&event->pid)));
    track->stream = stream_field(event, F_STREAM, number_in(&event->tid));
    return index;
}

static uint32_t track_of(tm_kineto_emitter *emitter, const tm_kineto_event *event,
                         tm_track_kind kind) {
    if (event->pid.size > TM_SHORT_TEXT_MAX || event->tid.size > TM_SHORT_TEXT_MAX)
        return add_track(emitter, event, kind);
    const tm_short_text pid = tm_short_text_of(&event->pid), tid = tm_short_text_of(&event->tid);
    uint64_t hash =
        tm_short_text_hash(&pid) * 5 + tm_short_text_hash(&tid) + ((uint64_t)kind << 59);
    tm_kineto_track_cache *cache = &emitter->tracks[hash >> (64 - TM_KINETO_TRACK_BITS)];
    if (cache->kind != kind || !tm_short_text_is(&cache->pid, &pid) ||
        !tm_short_text_is(&cache->tid, &tid))
        *cache = (tm_kineto_track_cache){
            .pid = pid, .tid = tid, .kind = kind, .track = add_track(emitter, event, kind)};
    return cache->track;
}

static bool emit_kernel(tm_kineto_emitter *emitter, const tm_kineto_event *event, uint32_t row) {
    tm_launch_shape shape = {
        .grid = {-1, -1, -1},
        .block = {-1, -1, -1},
        .registers = tm_narrow_i32(tm_kineto_int(event, F_REGISTERS, -1)),
        .shared_memory_bytes = tm_narrow_i32(tm_kineto_int(event, F_SHARED_MEMORY, -1)),
        .blocks_per_sm = real_field(event, F_BLOCKS_PER_SM),
        .warps_per_sm = real_field(event, F_WARPS_PER_SM),
        .occupancy_pct = occupancy_of(event),
    };
    if (tm_kineto_has(event, F_GRID))
        memcpy(shape.grid, event->fields[F_GRID].triple, sizeof shape.grid);
    if (tm_kineto_has(event, F_BLOCK))
        memcpy(shape.block, event->fields[F_BLOCK].triple, sizeof shape.block);
    return tm_trace_add_kernel(emitter->trace, row, tm_kineto_correlation(event), &shape);
}

/* In MTIA's events "size" is the size of a copy; in other events it has other meanings. */
static int64_t copied_bytes(const tm_kineto_event *event) {
    int64_t bytes = tm_kineto_int(event, F_BYTES, -1);
    if (tm_kineto_has(event, F_BYTES) || !tm_kineto_has(event, F_SIZE))
        return bytes;
    const tm_json_text *size = &event->fields[F_SIZE].text;
    return tm_number_int(size->bytes, size->size, &bytes) ? bytes : -1;
}

static bool emit_copy(tm_kineto_emitter *emitter, const tm_kineto_event *event, uint32_t row) {
    tm_copy_attr *attr = tm_vec_push(&emitter->trace->attrs[TM_ATTR_COPY]);
    if (!attr)
        return false;
    *attr = (tm_copy_attr){
        .event = row,
        .correlation = tm_kineto_correlation(event),
        .bytes = copied_bytes(event),
        .bandwidth_gbps = real_field(event, F_BANDWIDTH),
    };
    return true;
}

static bool emit_launch(tm_kineto_emitter *emitter, const tm_kineto_event *event, uint32_t row) {
    int64_t correlation = tm_kineto_correlation(event);
    if (correlation == 0) /* ROCm writes 0 if there is no id */
        return true;
    tm_launch_attr *attr = tm_vec_push(&emitter->trace->attrs[TM_ATTR_LAUNCH]);
    if (attr)
        *attr = (tm_launch_attr){.correlation = correlation, .event = row};
    return attr != NULL;
}

/* Comms Id is a 64-bit hash, written as a number or a text; other texts are hashed. */
static int64_t comms_id(const tm_kineto_event *event) {
    if (!tm_kineto_has(event, F_COMMS_ID))
        return 0;
    const tm_json_text *text = &event->fields[F_COMMS_ID].text;
    uint64_t value = 0, fold = tm_hash(TM_HASH_BEGIN, text->bytes, text->size);
    bool decimal = text->size > 0 && text->size <= 20;
    for (size_t i = text->size && *text->bytes == '-'; i < text->size; i++) {
        unsigned char c = (unsigned char)text->bytes[i];
        decimal = decimal && c >= '0' && c <= '9';
        value = value * 10 + (unsigned)(c - '0');
    }
    if (decimal && *text->bytes == '-')
        value = 0 - value;
    int64_t id;
    memcpy(&id, decimal ? &value : &fold, sizeof id);
    return id;
}

static bool emit_collective(tm_kineto_emitter *emitter, const tm_kineto_event *event,
                            uint32_t row) {
    bool ok = true;
    tm_collective_attr attr = {
        .event = row,
        .comms_id = comms_id(event),
        .seq = tm_kineto_int(event, F_SEQ, -1),
        .in_elements = tm_kineto_int(event, F_IN_ELEMENTS, -1),
        .out_elements = tm_kineto_int(event, F_OUT_ELEMENTS, -1),
        .group_size = tm_narrow_i32(tm_kineto_int(event, F_GROUP_SIZE, -1)),
        .wait_ns = -1,
        .first_rank = -1,
        .rank_start = tm_narrow_i32(tm_kineto_int(event, F_RANK_START, -1)),
        .rank_stride = tm_narrow_i32(tm_kineto_int(event, F_RANK_STRIDE, -1)),
        .src_rank = tm_narrow_i32(tm_kineto_int(event, F_SRC_RANK, -1)),
        .dst_rank = tm_narrow_i32(tm_kineto_int(event, F_DST_RANK, -1)),
        .name = text_field(emitter, event, F_COLLECTIVE, &ok),
        .dtype = text_field(emitter, event, F_DTYPE, &ok),
        .group = text_field(emitter, event, F_GROUP, &ok),
        .group_description = text_field(emitter, event, F_GROUP_DESCRIPTION, &ok),
        .group_ranks = text_field(emitter, event, F_GROUP_RANKS, &ok),
        .in_split = text_field(emitter, event, F_IN_SPLIT, &ok),
        .out_split = text_field(emitter, event, F_OUT_SPLIT, &ok),
    };
    return ok && tm_vec_append(&emitter->trace->attrs[TM_ATTR_COLLECTIVE], &attr, 1);
}

static bool emit_memory(tm_kineto_emitter *emitter, const tm_kineto_event *event, uint32_t row) {
    tm_memory_attr *attr = tm_vec_push(&emitter->trace->attrs[TM_ATTR_MEMORY]);
    if (!attr)
        return false;
    *attr = (tm_memory_attr){
        .event = row,
        .address = tm_kineto_int(event, F_ADDRESS, -1),
        .bytes = event->fields[F_MEMORY_BYTES].i,
        .allocated_bytes = tm_kineto_int(event, F_ALLOCATED, -1),
        .reserved_bytes = tm_kineto_int(event, F_RESERVED, -1),
        .device_type = tm_narrow_i32(tm_kineto_int(event, F_DEVICE_TYPE, -1)),
        .device = tm_narrow_i32(tm_kineto_int(event, F_DEVICE_ID, -1)),
    };
    return true;
}

/* Returns the text on one line with white space as Python writes it: ", " only. */
static tm_json_text on_one_line(const tm_json_text *text, char *into, size_t room) {
    size_t n = 0;
    for (size_t i = 0; i < text->size && n + 2 < room; i++) {
        if ((unsigned char)text->bytes[i] <= ' ')
            continue;
        into[n++] = text->bytes[i];
        if (text->bytes[i] == ',')
            into[n++] = ' ';
    }
    return (tm_json_text){.bytes = into, .size = n};
}

/* Returns the name id of the text of an array. The id is cached if the text is on one line. */
static uint32_t intern_array(tm_kineto_emitter *emitter, const tm_kineto_event *event,
                             const tm_json_text *text) {
    if (text->known == 0)
        return tm_names_intern(emitter->names, text->bytes, text->size);
    uint32_t *id = &event->known_ids[text->known];
    if (*id > 0)
        return *id;
    uint32_t made = tm_names_intern(emitter->names, text->bytes, text->size);
    *id = memchr(text->bytes, '\n', text->size) ? 0 : made;
    return made;
}

/* Texts over SHAPES_MAX bytes, of operators with hundreds of tensors, are cut: shapes are only
 * compared and shown. */
static bool emit_shapes(tm_kineto_emitter *emitter, const tm_kineto_event *event, uint32_t row) {
    enum { SHAPES_MAX = 512 };
    char line[SHAPES_MAX + 8];
    tm_json_text text =
        event->fields[tm_kineto_has(event, F_INPUT_DIMS) ? F_INPUT_DIMS : F_INPUT_DIMS_2021].text;
    bool is_known = text.known > 0 && event->known_ids[text.known] > 0;
    if (!is_known && memchr(text.bytes, '\n', text.size))
        text = on_one_line(&text, line, sizeof line);
    /* If the text is this short, there are no inputs, or they were not recorded. */
    if (text.size <= 2)
        return true;
    if (text.size > SHAPES_MAX) {
        memmove(line, text.bytes, SHAPES_MAX - 3);
        memset(line + SHAPES_MAX - 3, '.', 3);
        text = (tm_json_text){.bytes = line, .size = SHAPES_MAX};
    }
    uint32_t shapes = intern_array(emitter, event, &text);
    tm_shapes_attr *attr = tm_vec_push(&emitter->trace->attrs[TM_ATTR_SHAPES]);
    if (attr)
        *attr = (tm_shapes_attr){.event = row, .shapes = shapes};
    return attr && shapes != TM_NAME_FAILED;
}

/* Returns the name id of the text of an array field. Returns TM_NO_NAME if the event lacks the
 * field, or if the text is longer than that of any real operator. */
static uint32_t array_field(tm_kineto_emitter *emitter, const tm_kineto_event *event,
                            tm_kineto_field field) {
    enum { ARRAY_MAX = 4096 };
    const tm_json_text *text = &event->fields[field].text;
    return tm_kineto_has(event, field) && text->size <= ARRAY_MAX
               ? intern_array(emitter, event, text)
               : TM_NO_NAME;
}

/* Returns whether the inputs of an event are kept (timeline/counted.h). Caches the answer by name,
 * because there are few names. */
static bool is_counted(tm_kineto_emitter *emitter, const tm_kineto_event *event, uint32_t name) {
    tm_kineto_counted_cache *cache = &emitter->counted[name % TM_KINETO_COUNTED_CACHE];
    if (cache->name != name) {
        cache->name = name;
        cache->is_counted =
            event->has_name && tm_inputs_are_kept(event->name.bytes, event->name.size);
    }
    return cache->is_counted;
}

static bool emit_inputs(tm_kineto_emitter *emitter, const tm_kineto_event *event, uint32_t name,
                        uint32_t row) {
    if (!is_counted(emitter, event, name))
        return true;
    tm_inputs_attr attr = {
        .event = row,
        .types = array_field(emitter, event, F_INPUT_TYPES),
        .concrete = array_field(emitter, event, F_CONCRETE_INPUTS),
    };
    return attr.types != TM_NAME_FAILED && attr.concrete != TM_NAME_FAILED &&
           tm_vec_append(&emitter->trace->attrs[TM_ATTR_INPUTS], &attr, 1);
}

static bool emit_operator(tm_kineto_emitter *emitter, const tm_kineto_event *event, uint32_t row) {
    const tm_operator_attr reported = {
        .sequence = tm_kineto_int(event, F_SEQUENCE, -1),
        .event = row,
        .forward = TM_NO_EVENT,
        .thread = tm_narrow_i32(tm_kineto_int(event, F_FORWARD_THREAD, 0)),
    };
    return tm_chrome_operator(emitter->trace, emitter->names, &emitter->scratch, &reported,
                              tm_kineto_has(event, F_CALL_STACK) ? &event->fields[F_CALL_STACK].text
                                                                 : NULL);
}

static bool is_called(const tm_kineto_event *event, const char *name) {
    return event->has_name && tm_json_is(&event->name, name);
}

static tm_wait_kind wait_kind(const tm_kineto_event *event) {
    bool reported = tm_kineto_has(event, F_SYNC_KIND);
    const tm_json_text *text = reported ? &event->fields[F_SYNC_KIND].text : &event->name;
    if (is_called(event, MTIA_WAIT))
        return TM_WAIT_STREAM_WAIT;
    for (int kind = 0; kind < TM_N_WAIT_KINDS && (reported || event->has_name); kind++) {
        const char *known = tm_wait_text((tm_wait_kind)kind);
        if (tm_json_is(text, known))
            return (tm_wait_kind)kind;
    }
    return TM_WAIT_OTHER;
}

/* Adds a wait. The arg "stream" is the stream that waits or, if the host waits, the stream for
 * which the host waits. */
static bool emit_wait(tm_kineto_emitter *emitter, const tm_kineto_event *event, uint32_t row) {
    tm_wait_kind kind = wait_kind(event);
    int64_t record = tm_kineto_int(event, F_WAIT_ON_RECORD, 0);
    int64_t stream = stream_field(event, F_STREAM, -1);
    bool host_on_stream = kind == TM_WAIT_STREAM_SYNC;
    tm_wait_attr attr = {
        .event = row,
        .correlation = tm_kineto_int(event, F_CORRELATION, 0),
        /* -1 means that the event was recorded before the trace began. */
        .record_correlation = record == -1 ? 0 : record,
        .stream = host_on_stream ? -1 : stream,
        .on_stream = host_on_stream ? stream : stream_field(event, F_WAIT_ON_STREAM, -1),
        .call = TM_NO_EVENT,
        .record = TM_NO_EVENT,
        .kind = (uint8_t)kind,
    };
    return tm_vec_append(&emitter->trace->attrs[TM_ATTR_WAIT], &attr, 1);
}

/* Marks a kernel or an operator with the id of the operator. The kernels of an XPU have no data
 * about their collective, so they are linked with their operators at the end. */
static bool note_link(tm_kineto_emitter *emitter, const tm_kineto_event *event, uint32_t row) {
    const tm_mark mark = {
        .kind = TM_MARK_LINK,
        .event = row,
        .value = tm_kineto_int(event, F_EXTERNAL_ID, -1),
    };
    return tm_vec_append(&emitter->part->marks, &mark, 1) != NULL;
}

static bool emit_xpu_kernel(tm_kineto_emitter *emitter, const tm_kineto_event *event,
                            uint32_t row) {
    static const tm_json_text category = {.bytes = "xpu_kernel", .size = 10};
    if (!emitter->device_word && classify(emitter, &category).rule == TM_KINETO_NO_MEMORY)
        return false;
    bool may = event->has_name && !tm_kineto_has(event, F_COLLECTIVE) &&
               tm_kineto_may_communicate(event->name.bytes, event->name.size);
    return !may || note_link(emitter, event, row);
}

typedef struct counter_context {
    tm_kineto_emitter *emitter;
    uint32_t row;
} counter_context;

static bool emit_counter(void *context, const tm_json_text *key, double value) {
    const counter_context *c = context;
    uint32_t series = intern(c->emitter, key);
    tm_counter_attr *attr = tm_vec_push(&c->emitter->trace->attrs[TM_ATTR_COUNTER]);
    if (!attr || series == TM_NAME_FAILED)
        return false;
    *attr = (tm_counter_attr){.value = value, .event = c->row, .series = series};
    return true;
}

static bool emit_attributes(tm_kineto_emitter *emitter, tm_json_cursor *cursor,
                            const tm_kineto_event *event, const tm_raw_event *raw, uint32_t row) {
    bool ok = true;
    if (raw->kind == TM_COUNTER && event->args) {
        counter_context context = {emitter, row};
        return tm_chrome_counters(cursor, event->args, false, emit_counter, &context) != NULL;
    }
    if (raw->category == TM_CAT_RUNTIME || raw->category == TM_CAT_DRIVER)
        ok = emit_launch(emitter, event, row);
    else if (raw->category == TM_CAT_KERNEL)
        ok = emit_kernel(emitter, event, row) &&
             (!tm_kineto_has(event, F_SYCL_QUEUE) || emit_xpu_kernel(emitter, event, row));
    else if (raw->category == TM_CAT_MEMCPY || raw->category == TM_CAT_MEMSET)
        ok = emit_copy(emitter, event, row);
    else if ((tm_kineto_has(event, F_INPUT_DIMS) || tm_kineto_has(event, F_INPUT_DIMS_2021)) &&
             (raw->category == TM_CAT_CPU_OP ||
              (raw->category == TM_CAT_USER_ANNOTATION && is_counted(emitter, event, raw->name))))
        ok = emit_shapes(emitter, event, row) && emit_inputs(emitter, event, raw->name, row);
    else if (raw->category == TM_CAT_CUDA_SYNC)
        ok = emit_wait(emitter, event, row);
    if (ok && raw->category == TM_CAT_CPU_OP &&
        (tm_kineto_has(event, F_SEQUENCE) || tm_kineto_has(event, F_CALL_STACK)))
        ok = emit_operator(emitter, event, row);
    if (ok && tm_kineto_has(event, F_COLLECTIVE))
        ok = emit_collective(emitter, event, row) &&
             (raw->category != TM_CAT_CPU_OP || note_link(emitter, event, row));
    else if (raw->kind == TM_DURATION &&
             (raw->category == TM_CAT_CPU_OP || raw->category == TM_CAT_USER_ANNOTATION))
        ok = ok && tm_kineto_emit_host(emitter, event, row);
    if (ok && raw->kind == TM_INSTANT && tm_kineto_has(event, F_MEMORY_BYTES))
        ok = emit_memory(emitter, event, row);
    return ok;
}

/* Records a label of a process or thread. Labels such as "GPU 0" show which processes are
 * devices. */
static bool emit_label(tm_kineto_emitter *emitter, const tm_kineto_event *event) {
    const tm_json_text *name = &event->name;
    tm_vec *labels = &emitter->part->labels;
    emitter->trace->counts[TM_COUNT_METADATA]++;
    if (!event->has_name || !tm_json_is(name, "process_labels"))
        return tm_chrome_label(labels, emitter->names, &emitter->scratch, event, F_NAME);
    const tm_json_text *text = &event->fields[F_LABELS].text;
    if (!tm_kineto_has(event, F_LABELS) || !tm_kineto_is_device_label(text->bytes, text->size))
        return true;
    tm_label label = {
        .pid = intern(emitter, &event->pid),
        .tid = TM_NO_NAME,
        .text = intern(emitter, text),
    };
    return label.pid != TM_NAME_FAILED && label.text != TM_NAME_FAILED &&
           tm_vec_append(labels, &label, 1);
}

static __attribute__((noinline)) uint32_t name_without_addresses(tm_kineto_emitter *emitter,
                                                                 tm_json_text name) {
    enum { LONGEST = 4096 };
    char plain[LONGEST];
    if (name.size <= LONGEST) {
        name.size = tm_kineto_cut_addresses(name.bytes, name.size, plain);
        name.bytes = plain;
    }
    return intern(emitter, &name);
}

/* Returns whether the events of a category are named after symbols of libraries. Such names contain
 * no addresses of Python objects. */
static bool is_symbol(uint8_t category) {
    return category == TM_CAT_KERNEL || category == TM_CAT_RUNTIME || category == TM_CAT_DRIVER ||
           category == TM_CAT_MEMCPY || category == TM_CAT_MEMSET;
}

static uint32_t name_of(tm_kineto_emitter *emitter, const tm_kineto_event *event,
                        uint8_t category) {
    if (!event->has_name)
        return TM_NO_NAME;
    if (!is_symbol(category) && tm_kineto_find_address(event->name.bytes, event->name.size))
        return name_without_addresses(emitter, event->name);
    return intern(emitter, &event->name);
}

static inline bool push_event(tm_kineto_emitter *emitter, const tm_kineto_event *event,
                              const tm_raw_event *raw) {
    tm_trace *trace = emitter->trace;
    if (raw->name == TM_NAME_FAILED || raw->track == UINT32_MAX ||
        trace->events.n >= TM_NO_EVENT - 1)
        return false;
    tm_raw_event *added = tm_vec_push(&trace->events);
    if (!added)
        return false;
    *added = *raw;
    trace->counts[TM_COUNT_NO_NAME] += !event->has_name;
    trace->counts[TM_COUNT_NO_CATEGORY] +=
        !event->has_category && raw->kind == TM_DURATION && raw->category == TM_CAT_NONE;
    trace->counts[TM_COUNT_ZERO_TIME] += event->ts_ns == 0;
    trace->counts[TM_COUNT_OTHER_CATEGORY] += raw->category == TM_CAT_OTHER;
    trace->counts[TM_COUNT_BAD_VALUE] += event->bad_values;
    return true;
}

/* Keeps an event that may be device work, until all flows and labels are known. */
static bool emit_pending(tm_kineto_emitter *emitter, const tm_kineto_event *event,
                         uint8_t category) {
    const tm_raw_event raw = {
        .begin_ns = event->ts_ns,
        .duration_ns = event->duration_ns,
        .name = name_of(emitter, event, TM_CAT_OTHER),
        .category = TM_CAT_OTHER,
        .kind = TM_DURATION,
        .launch = TM_NO_EVENT,
    };
    const tm_mark mark = {
        .kind = TM_MARK_PENDING,
        .event = (uint32_t)emitter->trace->events.n,
        .category = category,
        .value = tm_kineto_int(event, F_CORRELATION, 0),
        .bytes = copied_bytes(event),
        .device = tm_narrow_i32(tm_kineto_int(event, F_DEVICE, number_in(&event->pid))),
        .stream = stream_field(event, F_STREAM, number_in(&event->tid)),
        .text = intern(emitter, &event->category),
        .pid = intern(emitter, &event->pid),
        .tid = intern(emitter, &event->tid),
    };
    bool ok = mark.text != TM_NAME_FAILED && mark.pid != TM_NAME_FAILED &&
              mark.tid != TM_NAME_FAILED && push_event(emitter, event, &raw) &&
              tm_vec_append(&emitter->part->marks, &mark, 1);
    return ok &&
           (!tm_kineto_has(event, F_COLLECTIVE) || emit_collective(emitter, event, mark.event));
}

/* Names a copy with its direction, so that copies in different directions have different names. */
static uint32_t mtia_name(tm_kineto_emitter *emitter, const tm_kineto_event *event) {
    const tm_json_text *direction = &event->fields[F_DIRECTION].text;
    char name[128];
    if (!tm_kineto_has(event, F_DIRECTION) || event->name.escaped || direction->escaped)
        return name_of(emitter, event, TM_CAT_OTHER);
    int n = snprintf(name, sizeof name, "%.*s (%.*s)", event->has_name ? (int)event->name.size : 0,
                     event->name.bytes, (int)direction->size, direction->bytes);
    return n > 0 && n < (int)sizeof name ? tm_names_intern(emitter->names, name, (size_t)n)
                                         : name_of(emitter, event, TM_CAT_OTHER);
}

/* Sets the stream of a track to the stream of an event. Also adds a mark, because the tracks of the
 * joined trace get their streams from marks. */
static bool note_stream(tm_kineto_emitter *emitter, const tm_kineto_event *event, uint32_t index,
                        bool created) {
    tm_track *track = (tm_track *)emitter->trace->tracks.data + index;
    int64_t stream = stream_field(event, F_STREAM, -1);
    if (index == UINT32_MAX || stream < 0 || (track->stream == stream && !created))
        return true;
    track->stream = stream;
    const tm_mark mark = {.kind = TM_MARK_STREAM,
                          .event = TM_NO_EVENT,
                          .stream = stream,
                          .pid = track->pid,
                          .tid = track->tid};
    return tm_vec_append(&emitter->part->marks, &mark, 1) != NULL;
}

static uint8_t mtia_category(const tm_kineto_event *event) {
    return is_called(event, MTIA_WAIT)         ? TM_CAT_CUDA_SYNC
           : is_called(event, MTIA_RECORD)     ? TM_CAT_CUDA_EVENT
           : tm_kineto_has(event, F_DIRECTION) ? TM_CAT_MEMCPY
                                               : TM_CAT_KERNEL;
}

static bool emit_event(tm_kineto_emitter *emitter, tm_json_cursor *cursor,
                       const tm_kineto_event *event, tm_event_kind kind) {
    tm_trace *trace = emitter->trace;
    tm_count wrong = tm_chrome_wrong_times(event, kind);
    if (wrong != TM_N_COUNTS) {
        trace->counts[wrong]++;
        return true;
    }
    tm_kineto_class class = class_of(emitter, event);
    bool mtia = false;
    if (class.rule != TM_KINETO_PLAIN) {
        mtia = class.rule == TM_KINETO_MTIA && kind == TM_DURATION;
        if (class.rule == TM_KINETO_NO_MEMORY)
            return false;
        if (class.rule == TM_KINETO_PENDING && kind == TM_DURATION)
            return emit_pending(emitter, event, class.category);
        class.category = mtia ? mtia_category(event) : TM_CAT_OTHER;
    }
    size_t n_tracks = trace->tracks.n;
    tm_category category = class.category;
    if (kind == TM_DURATION && category == TM_CAT_CPU_INSTANT)
        kind = TM_INSTANT; /* PyTorch's exports in Python extend instants to the end of the trace */
    tm_raw_event raw = {
        .begin_ns = event->ts_ns,
        .duration_ns = kind == TM_DURATION ? event->duration_ns : 0,
        .name = mtia ? mtia_name(emitter, event) : name_of(emitter, event, class.category),
        .track =
            track_of(emitter, event, tm_category_is_gpu(category) ? TM_TRACK_GPU : TM_TRACK_CPU),
        .category = (uint8_t)category,
        .kind = (uint8_t)kind,
        .launch = TM_NO_EVENT,
    };
    return push_event(emitter, event, &raw) &&
           (!mtia || note_stream(emitter, event, raw.track, trace->tracks.n > n_tracks)) &&
           emit_attributes(emitter, cursor, event, &raw, (uint32_t)(trace->events.n - 1));
}

bool tm_kineto_emit(tm_kineto_emitter *emitter, tm_json_cursor *cursor,
                    const tm_kineto_event *event) {
    switch (event->phase) {
    case 'X':
        return emit_event(emitter, cursor, event, TM_DURATION);
    case 'i':
    /* An older letter of the Chrome format for an instant. */
    case 'I':
        return emit_event(emitter, cursor, event, TM_INSTANT);
    case 'C':
        return emit_event(emitter, cursor, event, TM_COUNTER);
    case 'M':
        return emit_label(emitter, event);
    case 's':
    case 't':
    case 'f':
        emitter->trace->counts[TM_COUNT_FLOW]++;
        return tm_kineto_note_flow(emitter->part, event);
    default:
        emitter->trace->counts[TM_COUNT_OTHER_PHASE]++;
        return true;
    }
}
