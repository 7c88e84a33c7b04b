#include "rocprof_emit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/sums.h"
#include "rocprof_memory.h"

/* What the two numbers of a track mean. The name of the track depends on this. */
enum { BY_STREAM, BY_QUEUE, BY_DIRECTION, BY_THREAD };

void tm_rocprof_emitter_init(tm_rocprof_emitter *e, const tm_unit *unit, tm_names *names,
                             tm_trace *trace) {
    *e = (tm_rocprof_emitter){
        .unit = unit, .names = names, .trace = trace, .allocations = TM_VEC(tm_rocprof_allocation)};
    for (int i = 0; i < TM_ROCPROF_TRACKS; i++)
        e->tracks[i].way = UINT8_MAX;
}

void tm_rocprof_emitter_free(tm_rocprof_emitter *e) {
    tm_vec_free(&e->allocations);
}

static uint32_t text_of(tm_rocprof_emitter *e, const char *before, uint64_t number) {
    char text[40];
    snprintf(text, sizeof text, "%s%" PRIu64, before, number);
    return tm_names_intern_string(e->names, text);
}

/* A stream's name is only its number, as in Kineto. A queue's name has a prefix. */
static uint32_t new_track(tm_rocprof_emitter *e, int way, uint64_t first, uint64_t second) {
    static const char *const words[] = {"", "queue ", "copies ", ""};
    uint32_t pid = way != BY_THREAD && first == UINT64_MAX ? tm_names_intern_string(e->names, "-1")
                                                           : text_of(e, "", first);
    uint32_t tid = text_of(e, words[way], second);
    if (pid == TM_NAME_FAILED || tid == TM_NAME_FAILED)
        return UINT32_MAX;
    uint32_t index =
        tm_trace_track(e->trace, way == BY_THREAD ? TM_TRACK_CPU : TM_TRACK_GPU, pid, tid);
    if (index == UINT32_MAX || way == BY_THREAD)
        return index;
    tm_track *track = (tm_track *)e->trace->tracks.data + index;
    track->device = first == UINT64_MAX ? -1 : (int32_t)(first & INT32_MAX);
    track->stream = second <= INT64_MAX && way != BY_DIRECTION ? (int64_t)second : -1;
    return index;
}

static uint32_t track_of(tm_rocprof_emitter *e, int way, uint64_t first, uint64_t second) {
    uint64_t hash = (first * 31 + second * 4 + (uint64_t)way) * 0x9E3779B97F4A7C15u;
    tm_rocprof_track *known = &e->tracks[hash >> 56];
    if (known->way != way || known->first != first || known->second != second) {
        uint32_t track = new_track(e, way, first, second);
        if (track == UINT32_MAX)
            return track;
        *known = (tm_rocprof_track){first, second, track, (uint8_t)way};
    }
    return known->track;
}

/* Returns the reason to reject an event, or TM_N_COUNTS if the event is accepted. An event is
 * accepted if its start is in (0, 3e18] ns and its duration is in [0, TM_DAY_NS]. Times count from
 * the start of the host; 0 means that the time is missing. */
static tm_count wrong_times(int64_t begin, int64_t end) {
    const int64_t most = INT64_C(3000000000000000000);
    if (begin <= 0 || begin > most || end < 0)
        return TM_COUNT_NO_TIME;
    if (end == 0)
        return TM_COUNT_OPEN_RANGE;
    if (end < begin)
        return TM_COUNT_NEGATIVE_DURATION;
    return end - begin > TM_DAY_NS ? TM_COUNT_ABSURD_DURATION : TM_N_COUNTS;
}

/* Adds the event of a record. Sets *row to the event's row, or to TM_NO_EVENT if the event was
 * rejected. */
static bool add(tm_rocprof_emitter *e, const tm_rocprof_record *r, tm_raw_event event,
                uint32_t *row) {
    tm_trace *trace = e->trace;
    int64_t begin = tm_rocprof_int(r, R_BEGIN, tm_rocprof_int(r, R_TIME, -1));
    int64_t end = event.kind == TM_INSTANT ? begin : tm_rocprof_int(r, R_END, -1);
    tm_count wrong = wrong_times(begin, end);
    *row = TM_NO_EVENT;
    if (wrong != TM_N_COUNTS) {
        trace->counts[wrong]++;
        return true;
    }
    event.begin_ns = begin;
    event.duration_ns = end - begin;
    event.launch = TM_NO_EVENT;
    if (event.name == TM_NAME_FAILED || event.track == UINT32_MAX ||
        trace->events.n >= TM_NO_EVENT - 1 || !tm_vec_append(&trace->events, &event, 1))
        return false;
    trace->counts[TM_COUNT_NO_NAME] += event.name == TM_NO_NAME;
    trace->counts[TM_COUNT_NO_EPOCH]++;
    trace->counts[TM_COUNT_BAD_VALUE] += r->bad_values;
    *row = (uint32_t)(trace->events.n - 1);
    return true;
}

static const tm_rocprof_agent *agent_at(const tm_rocprof_tables *t, const tm_rocprof_record *r,
                                        tm_rocprof_field field) {
    return tm_rocprof_has(r, field) ? tm_rocprof_agent_of(t, r->fields[field]) : NULL;
}

bool tm_rocprof_device_of(const tm_rocprof_tables *t, tm_rocprof_list list,
                          const tm_rocprof_record *r, int64_t *device) {
    tm_rocprof_field field = R_AGENT;
    if (list == L_COPY) {
        const tm_rocprof_agent *to = agent_at(t, r, R_TO), *from = agent_at(t, r, R_FROM);
        if (to && from && !to->gpu && !from->gpu)
            return false;
        field = to && !to->gpu ? R_FROM : R_TO;
    }
    const tm_rocprof_agent *agent = agent_at(t, r, field);
    *device = agent ? agent->device : -1;
    return tm_rocprof_has(r, field);
}

static bool is_own(const tm_rocprof_emitter *e, int64_t device) {
    return !e->unit || ((uint64_t)e->unit->devices & tm_unit_device(device));
}

static tm_rocprof_text *operation_of(const tm_rocprof_tables *t, const tm_rocprof_record *r) {
    return tm_rocprof_operation_of(t, tm_rocprof_int(r, R_KIND, -1),
                                   tm_rocprof_int(r, R_OPERATION, -1));
}

static uint32_t thread_track(tm_rocprof_emitter *e, const tm_rocprof_tables *t,
                             const tm_rocprof_record *r) {
    uint64_t process = t->pid < 0 ? 0 : (uint64_t)t->pid;
    return track_of(e, BY_THREAD, process, tm_rocprof_has(r, R_THREAD) ? r->fields[R_THREAD] : 0);
}

/* Converts the size of the grid from work items to blocks. The last block may be smaller than the
 * others. */
static void set_shape(const tm_rocprof_record *r, tm_launch_shape *shape) {
    for (int i = 0; i < 3; i++) {
        int64_t items = tm_rocprof_int(r, (tm_rocprof_field)(R_GRID_X + i), -1);
        int64_t block = tm_rocprof_int(r, (tm_rocprof_field)(R_BLOCK_X + i), -1);
        if (items <= 0 || block <= 0 || block > INT32_MAX)
            continue;
        shape->block[i] = (int32_t)block;
        shape->grid[i] = tm_narrow_i32(items / block + (items % block != 0));
    }
}

/* Sets the number of blocks and of warps per multiprocessor, computed as in Kineto. (On AMD's GPUs,
 * warps are waves, and multiprocessors are compute units.) */
static void set_load(const tm_rocprof_agent *agent, tm_launch_shape *shape) {
    double blocks = 1, threads = 1;
    for (int i = 0; i < 3; i++) {
        if (shape->grid[i] <= 0)
            return;
        blocks *= shape->grid[i];
        threads *= shape->block[i];
    }
    if (!agent || agent->units <= 0)
        return;
    shape->blocks_per_sm = (float)(blocks / (double)agent->units);
    if (agent->wave > 0)
        shape->warps_per_sm =
            (float)(blocks * ceil(threads / (double)agent->wave) / (double)agent->units);
}

/* Returns the category of a dispatch. Some kernels and commands of the runtime only copy or fill
 * memory. */
static tm_category category_of(const tm_rocprof_tables *t, const tm_rocprof_entry *kernel) {
    if (!kernel)
        return TM_CAT_KERNEL;
    if (tm_rocprof_is(t, &kernel->text, "FillBuffer") || tm_rocprof_is(t, &kernel->text, "Memset"))
        return TM_CAT_MEMSET;
    if (tm_rocprof_begins(t, &kernel->text, "__amd_rocclr_copy"))
        return TM_CAT_MEMCPY;
    return tm_rocprof_begins(t, &kernel->text, "__amd_rocclr_fill") ? TM_CAT_MEMSET : TM_CAT_KERNEL;
}

static bool add_copy_attr(tm_rocprof_emitter *e, const tm_rocprof_record *r, uint32_t row) {
    tm_copy_attr *attr = tm_vec_push(&e->trace->attrs[TM_ATTR_COPY]);
    const tm_raw_event *event = (const tm_raw_event *)e->trace->events.data + row;
    if (!attr)
        return false;
    *attr = (tm_copy_attr){.event = row,
                           .correlation = tm_rocprof_int(r, R_CORRELATION, 0),
                           .bytes = tm_rocprof_int(r, R_BYTES, -1),
                           .bandwidth_gbps = NAN};
    if (attr->bytes >= 0 && event->duration_ns > 0) /* bytes per nanosecond = GB/s */
        attr->bandwidth_gbps = (float)((double)attr->bytes / (double)event->duration_ns);
    return true;
}

static bool add_kernel_attr(tm_rocprof_emitter *e, const tm_rocprof_tables *t,
                            const tm_rocprof_record *r, const tm_rocprof_entry *kernel,
                            uint32_t row) {
    tm_launch_shape shape = tm_launch_shape_bare();
    shape.registers = kernel ? kernel->registers : -1;
    shape.shared_memory_bytes = tm_narrow_i32(tm_rocprof_int(r, R_GROUP_SEGMENT, -1));
    set_shape(r, &shape);
    set_load(agent_at(t, r, R_AGENT), &shape);
    return tm_trace_add_kernel(e->trace, row, tm_rocprof_int(r, R_CORRELATION, 0), &shape);
}

static uint32_t device_track(tm_rocprof_emitter *e, const tm_rocprof_record *r, int64_t device,
                             uint64_t direction) {
    uint64_t first = device < 0 ? UINT64_MAX : (uint64_t)device;
    if (tm_rocprof_has(r, R_STREAM))
        return track_of(e, BY_STREAM, first, r->fields[R_STREAM]);
    return tm_rocprof_has(r, R_QUEUE) ? track_of(e, BY_QUEUE, first, r->fields[R_QUEUE])
                                      : track_of(e, BY_DIRECTION, first, direction);
}

static bool emit_dispatch(tm_rocprof_emitter *e, tm_rocprof_tables *t, const tm_rocprof_record *r) {
    int64_t device;
    uint32_t row;
    (void)tm_rocprof_device_of(t, L_DISPATCH, r, &device);
    if (!is_own(e, device))
        return true;
    tm_rocprof_entry *kernel =
        tm_rocprof_has(r, R_KERNEL) ? tm_rocprof_find(&t->kernels, r->fields[R_KERNEL]) : NULL;
    tm_category category = category_of(t, kernel);
    const tm_raw_event event = {.kind = TM_DURATION,
                                .category = (uint8_t)category,
                                .name = tm_rocprof_name(t, kernel ? &kernel->text : NULL, e->names),
                                .track = device_track(e, r, device, 0)};
    if (!add(e, r, event, &row))
        return false;
    if (row == TM_NO_EVENT)
        return true;
    return category == TM_CAT_KERNEL ? add_kernel_attr(e, t, r, kernel, row)
                                     : add_copy_attr(e, r, row);
}

/* Adds a copy. Its name is the name that Kineto gives to it on ROCm, because the analyses know
 * these names. If the operation has no name, the direction is found from the agents. */
static bool emit_copy(tm_rocprof_emitter *e, const tm_rocprof_tables *t,
                      const tm_rocprof_record *r) {
    static const struct {
        const char *operation, *name;
    } ways[2][2] = {
        {{"HOST_TO_HOST", "Memcpy HtoH (Host -> Host)"},
         {"HOST_TO_DEVICE", "Memcpy HtoD (Host -> Device)"}},
        {{"DEVICE_TO_HOST", "Memcpy DtoH (Device -> Host)"},
         {"DEVICE_TO_DEVICE", "Memcpy DtoD (Device -> Device)"}},
    };
    const tm_rocprof_text *operation = operation_of(t, r);
    const tm_rocprof_agent *from = agent_at(t, r, R_FROM), *to = agent_at(t, r, R_TO);
    int way = from && to ? from->gpu * 2 + to->gpu : -1;
    int64_t device;
    uint32_t row;
    for (int i = 0; i < 4; i++)
        if (tm_rocprof_holds(t, operation, ways[i / 2][i % 2].operation))
            way = i;
    bool on_device = tm_rocprof_device_of(t, L_COPY, r, &device);
    if (on_device && !is_own(e, device))
        return true;
    tm_raw_event event = {
        .kind = TM_DURATION,
        .category = on_device ? TM_CAT_MEMCPY : TM_CAT_OTHER,
        .name = tm_names_intern_string(e->names, way < 0 ? "Memcpy" : ways[way / 2][way % 2].name),
    };
    event.track = on_device ? device_track(e, r, device, (uint64_t)way + 1) : thread_track(e, t, r);
    if (!add(e, r, event, &row))
        return false;
    return row == TM_NO_EVENT || !on_device || add_copy_attr(e, r, row);
}

static bool emit_call(tm_rocprof_emitter *e, const tm_rocprof_tables *t, const tm_rocprof_record *r,
                      tm_raw_event event) {
    uint32_t row;
    tm_rocprof_kind *kind = tm_rocprof_kind_of(t, tm_rocprof_int(r, R_KIND, -1));
    event.track = thread_track(e, t, r);
    if (event.name == TM_NO_NAME)
        event.name = tm_rocprof_name(t, operation_of(t, r), e->names);
    if (event.name == TM_NO_NAME)
        event.name = tm_rocprof_name(t, kind ? &kind->name : NULL, e->names);
    if (!add(e, r, event, &row))
        return false;
    const tm_launch_attr attr = {.correlation = tm_rocprof_int(r, R_CORRELATION, 0), .event = row};
    if (row == TM_NO_EVENT || event.category != TM_CAT_RUNTIME || attr.correlation == 0)
        return true;
    return tm_vec_append(&e->trace->attrs[TM_ATTR_LAUNCH], &attr, 1) != NULL;
}

/* Adds a marker. A range has several records, but only one of them is used. In most files, this is
 * the record of kind MARKER_CORE_RANGE_API. In older files, it is the record of the push, of kind
 * MARKER_CORE_API. */
static bool emit_marker(tm_rocprof_emitter *e, tm_rocprof_tables *t, const tm_rocprof_record *r) {
    const tm_rocprof_text *operation = operation_of(t, r);
    tm_rocprof_entry *text = tm_rocprof_has(r, R_CORRELATION)
                                 ? tm_rocprof_find(&t->markers, r->fields[R_CORRELATION])
                                 : NULL;
    bool mark = tm_rocprof_holds(t, operation, "roctxMark");
    const tm_raw_event event = {.kind = mark ? TM_INSTANT : TM_DURATION,
                                .category = text || mark ? TM_CAT_USER_ANNOTATION : TM_CAT_OTHER,
                                .name = tm_rocprof_name(t, text ? &text->text : NULL, e->names)};
    return emit_call(e, t, r, event);
}

/* Keeps an allocation or release until all of them are known. This is necessary because a release
 * lacks the size and usually the device. */
static bool emit_memory(tm_rocprof_emitter *e, const tm_rocprof_tables *t,
                        const tm_rocprof_record *r) {
    const tm_rocprof_agent *agent = agent_at(t, r, R_AGENT);
    const tm_rocprof_text *operation = operation_of(t, r);
    int64_t begin = tm_rocprof_int(r, R_BEGIN, -1);
    tm_count wrong = wrong_times(begin, begin);
    if (wrong != TM_N_COUNTS) {
        e->trace->counts[wrong]++;
        return true;
    }
    const tm_rocprof_allocation found = {
        .address = tm_rocprof_has(r, R_ADDRESS) ? r->fields[R_ADDRESS] : 0,
        .time_ns = begin,
        .bytes = tm_rocprof_holds(t, operation, "FREE")
                     ? TM_ROCPROF_FREED
                     : tm_rocprof_int(r, R_ALLOCATED, TM_ROCPROF_UNKNOWN),
        .device = agent && agent->gpu ? agent->device : -1,
        .track = thread_track(e, t, r),
        .place = (uint32_t)e->allocations.n,
        .gpu = agent && agent->gpu,
    };
    e->trace->counts[TM_COUNT_BAD_VALUE] += r->bad_values;
    return found.track != UINT32_MAX && tm_vec_append(&e->allocations, &found, 1);
}

bool tm_rocprof_emit(tm_rocprof_emitter *e, tm_rocprof_tables *t, tm_rocprof_list list,
                     const tm_rocprof_record *r) {
    static const tm_category categories[L_SAMPLES] = {
        [L_HIP] = TM_CAT_RUNTIME, [L_HSA] = TM_CAT_DRIVER, [L_RCCL] = TM_CAT_USER_ANNOTATION};
    switch (list) {
    case L_DISPATCH:
        return emit_dispatch(e, t, r);
    case L_COPY:
        return emit_copy(e, t, r);
    case L_MARKER:
        return emit_marker(e, t, r);
    case L_MEMORY:
        return emit_memory(e, t, r);
    default:
        return emit_call(
            e, t, r,
            (tm_raw_event){.category = (uint8_t)categories[list],
                           .kind = tm_rocprof_has(r, R_BEGIN) ? TM_DURATION : TM_INSTANT});
    }
}

bool tm_rocprof_emit_end(tm_rocprof_emitter *e) {
    return tm_rocprof_memory_emit(&e->allocations, e->unit,
                                  tm_names_intern_string(e->names, "[memory]"), e->trace);
}
