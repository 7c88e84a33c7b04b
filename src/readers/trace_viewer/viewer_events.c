#include "viewer_events.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/letters.h"
#include "readers/chrome.h"
#include "readers/number.h"
#include "viewer_programs.h"
#include "viewer_space.h"

/* The args that are read: args that the XSpace reader uses and that the viewer's JSON still has.
 * The arg "name" is a long name, which an XSpace has as the name of the event. */
#define FIELDS(X)                                                                                  \
    X(F_CORRELATION, INT, "correlation_id")                                                        \
    X(F_KERNEL_DETAILS, TEXT, "kernel_details")                                                    \
    X(F_MEMCPY_DETAILS, TEXT, "memcpy_details")                                                    \
    X(F_MEMSET_DETAILS, TEXT, "memset_details")                                                    \
    X(F_OCCUPANCY, TEXT, "theoretical_occupancy_pct")                                              \
    X(F_TF_OP, TEXT, "tf_op")                                                                      \
    X(F_LEVEL_0, TEXT, "level 0")                                                                  \
    X(F_NAME, TEXT, "name")                                                                        \
    X(F_HLO_OP, TEXT, "hlo_op")                                                                    \
    X(F_HLO_MODULE, TEXT, "hlo_module")                                                            \
    X(F_HLO_CATEGORY, TEXT, "hlo_category")                                                        \
    X(F_LONG_NAME, TEXT, "long_name")                                                              \
    X(F_GROUP, INT, "group_id")                                                                    \
    X(F_STEP, INT, "step_num")                                                                     \
    X(F_RUN, INT, "run_id")                                                                        \
    X(F_QUEUE, INT, "queue_id")                                                                    \
    X(F_ORDINAL, INT, "device_ordinal")                                                            \
    X(F_DEVICE_OFFSET, INT, "device_offset_ps")                                                    \
    X(F_DEVICE_DURATION, INT, "device_duration_ps")                                                \
    X(F_ALLOCATOR, TEXT, "allocator_name")                                                         \
    X(F_ON_HOST, INT, "index_on_host")                                                             \
    X(F_RESERVED, INT, "bytes_reserved")                                                           \
    X(F_ALLOCATED, INT, "bytes_allocated")                                                         \
    X(F_ALLOCATION, INT, "allocation_bytes")                                                       \
    X(F_REQUESTED, INT, "requested_bytes")                                                         \
    X(F_PEAK, INT, "peak_bytes_in_use")                                                            \
    X(F_ADDRESS, INT, "addr")                                                                      \
    X(F_SHAPE, TEXT, "shape")

enum {
    FIELDS(TM_CHROME_FIELD_ID) N_FIELDS,
    /* Stats for flows. The JSON lacks flows, so they are made from the ids of a module's run. */
    PRODUCER_TYPE = N_FIELDS,
    PRODUCER,
    CONSUMER_TYPE,
    CONSUMER,
    CORE, /* core_details of a plane */
    N_STATS
};

static const tm_chrome_field fields[N_FIELDS] = {FIELDS(TM_CHROME_FIELD_ROW)};

/* Names by stat number. In the XSpace, stat numbers start at 1. */
static const char *const stat_names[N_STATS + 1] = {
#define STAT_NAME(id, type, key) [id + 1] = key,
    FIELDS(STAT_NAME)
#undef STAT_NAME
        [PRODUCER_TYPE + 1] = "_pt",
    [PRODUCER + 1] = "_p",
    [CONSUMER_TYPE + 1] = "_ct",
    [CONSUMER + 1] = "_c",
    [CORE + 1] = "core_details",
};

_Static_assert((int)N_STATS < (int)TM_VIEWER_STATS, "texts have the numbers from there on");

enum { LONG_NAMES = 4096 };

typedef struct viewer {
    tm_viewer_space space;
    tm_viewer_programs programs;
    tm_trace *trace;
    tm_vec scratch;   /* vector of char */
    int64_t n_events; /* number of events with times */
    /* [short name id % LONG_NAMES] the last long name of an operation with this short name */
    uint32_t long_names[LONG_NAMES];
} viewer;

static uint32_t intern(viewer *v, const tm_json_text *text) {
    if (!text->escaped)
        return tm_names_intern(v->space.texts, text->bytes, text->size);
    if (!tm_vec_reserve(&v->scratch, text->size + 1))
        return TM_NAME_FAILED;
    size_t size = tm_json_decode(text, v->scratch.data);
    return tm_names_intern(v->space.texts, v->scratch.data, size);
}

/* Interns the long name of an operation. Nearly always, it is the long name that the last operation
 * with the same short name had. */
static uint32_t intern_long(viewer *v, const tm_json_text *text, uint32_t shown) {
    uint32_t *known = &v->long_names[shown % LONG_NAMES];
    tm_text last = tm_names_text(v->space.texts, *known);
    if (text->escaped || last.size != text->size || memcmp(last.bytes, text->bytes, last.size) != 0)
        *known = intern(v, text);
    uint32_t found = *known;
    *known = found == TM_NAME_FAILED ? TM_NO_NAME : found;
    return found;
}

/* Returns the number of a process or thread; 0 if the text is not a number. */
static int64_t number_of(const tm_json_text *text) {
    int64_t value = 0;
    for (size_t i = text->size > 0 && *text->bytes == '-'; i < text->size; i++)
        if (text->bytes[i] < '0' || text->bytes[i] > '9')
            return 0;
    return text->size > 0 && tm_number_int(text->bytes, text->size, &value) ? value : 0;
}

static bool take_name(viewer *v, const tm_chrome_event *e) {
    bool process = e->has_name && tm_json_is(&e->name, "process_name");
    bool thread = e->has_name && tm_json_is(&e->name, "thread_name");
    v->trace->counts[TM_COUNT_METADATA]++;
    if ((!process && !thread) || !tm_chrome_has(e, F_NAME))
        return true;
    uint32_t name = intern(v, &e->fields[F_NAME].text);
    tm_viewer_plane *plane = tm_viewer_plane_of(&v->space, number_of(&e->pid));
    tm_viewer_line *line =
        thread ? tm_viewer_line_of(&v->space, number_of(&e->pid), number_of(&e->tid)) : NULL;
    if (name == TM_NAME_FAILED || !plane || (thread && !line))
        return false;
    if (thread)
        line->name = name;
    else
        plane->name = name;
    return true;
}

/* Returns the number of the device to which a plane belongs: 3 for "/device:TPU:3". Returns -1 if
 * the plane is not the plane of a device. */
static int64_t device_of(const viewer *v, const tm_viewer_plane *plane) {
    tm_text name = tm_names_text(v->space.texts, plane->name);
    int64_t device;
    if (!tm_text_begins(name, "/device:TPU:") || name.size > 30)
        return -1;
    const tm_json_text digits = {.bytes = name.bytes + 12, .size = name.size - 12};
    device = number_of(&digits);
    return device > 0 || tm_json_is(&digits, "0") ? device : -1;
}

/* Adds a flow from the host call that enqueues a program to the program's run on the device: both
 * have the id of the run. */
static bool add_flow(viewer *v, const tm_chrome_event *e, const tm_viewer_plane *plane) {
    enum { FLOW_TYPE = 1 };
    bool call = e->has_name && tm_json_is(&e->name, "DoEnqueueProgram");
    int64_t numbers[3] = {tm_chrome_int(e, F_ORDINAL, device_of(v, plane)),
                          tm_chrome_int(e, F_QUEUE, 0), tm_chrome_int(e, F_RUN, 0)};
    /* Other calls with the id of a run wait for the run, or clean up after it. */
    if (!tm_chrome_has(e, F_RUN) || numbers[0] < 0 || call != tm_chrome_has(e, F_ORDINAL))
        return true;
    int64_t id = (int64_t)(tm_hash_mixed(0, numbers, sizeof numbers) >> 1);
    return tm_viewer_add_int(&v->space, (call ? PRODUCER_TYPE : CONSUMER_TYPE) + 1, FLOW_TYPE) &&
           tm_viewer_add_int(&v->space, (call ? PRODUCER : CONSUMER) + 1, id);
}

static bool add_stats(viewer *v, const tm_chrome_event *e, tm_viewer_plane *plane) {
    for (uint32_t f = 0; f < N_FIELDS; f++) {
        bool ok = true;
        if (!tm_chrome_has(e, f) || f == F_LONG_NAME)
            continue;
        if (f == F_OCCUPANCY) {
            const tm_json_text *text = &e->fields[f].text;
            bool number = text->size > 0 && *text->bytes >= '0' && *text->bytes <= '9';
            ok = !number || tm_viewer_add_real(&v->space, f + 1, tm_number_real(text->bytes));
        } else if (fields[f].type == TM_CHROME_INT) {
            ok = tm_viewer_add_int(&v->space, f + 1, e->fields[f].i);
        } else {
            uint32_t text = intern(v, &e->fields[f].text);
            ok = text != TM_NAME_FAILED && tm_viewer_add_text(&v->space, plane, f + 1, text);
        }
        if (!ok)
            return false;
    }
    return add_flow(v, e, plane);
}

/* Records runs and collectives, which show the devices of a program. Uses the device's times if the
 * event has them. */
static bool take_program(viewer *v, const tm_chrome_event *e, const tm_viewer_plane *plane,
                         uint32_t name, uint32_t text) {
    int64_t begin = tm_chrome_int(e, F_DEVICE_OFFSET, e->ts_ns);
    int64_t duration = tm_chrome_int(e, F_DEVICE_DURATION, e->duration_ns);
    if (tm_chrome_has(e, F_RUN) && !tm_chrome_has(e, F_ORDINAL) && begin < INT64_MAX / 2 &&
        duration >= 0 && duration < INT64_MAX / 2)
        return tm_viewer_programs_run(&v->programs, plane->process, name, begin, begin + duration);
    return !tm_chrome_has(e, F_LONG_NAME) ||
           tm_viewer_programs_take(&v->programs, plane->process,
                                   tm_names_text(v->space.texts, name),
                                   tm_names_text(v->space.texts, text), begin);
}

static bool take_event(viewer *v, const tm_chrome_event *e) {
    int64_t process = number_of(&e->pid), *counts = v->trace->counts;
    v->n_events++;
    if (!e->has_ts || !e->has_duration) {
        counts[TM_COUNT_NO_TIME]++;
        return true;
    }
    tm_viewer_plane *plane = tm_viewer_plane_of(&v->space, process);
    tm_viewer_line *line = tm_viewer_line_of(&v->space, process, number_of(&e->tid));
    uint32_t shown = e->has_name ? intern(v, &e->name) : TM_NO_NAME, name = shown;
    if (tm_chrome_has(e, F_LONG_NAME))
        name = intern_long(v, &e->fields[F_LONG_NAME].text, shown);
    counts[TM_COUNT_BAD_VALUE] += e->bad_values;
    if (!plane || !line || name == TM_NAME_FAILED || shown == TM_NAME_FAILED)
        return false;
    const tm_viewer_event event = {name, shown, e->ts_ns, e->duration_ns};
    return add_stats(v, e, plane) && tm_viewer_add_event(&v->space, line, plane, &event) &&
           take_program(v, e, plane, shown, name);
}

static bool take(void *context, tm_json_cursor *cursor, tm_chrome_event *e) {
    viewer *v = context;
    (void)cursor;
    if (e->phase == 'X')
        return take_event(v, e);
    if (e->phase == 'M')
        return take_name(v, e);
    /* The last element is {}, because the writer puts a comma after each event. */
    v->trace->counts[TM_COUNT_OTHER_PHASE] += e->phase != 0 || e->has_name || e->has_ts;
    return true;
}

/* Marks the trace as truncated if it has as many events as the writer's limit, which was a million
 * at first, then five million. */
static void check_cut(viewer *v) {
    if (v->n_events != 1000000 && v->n_events != 5000000)
        return;
    v->trace->truncated = true;
    v->trace->counts[TM_COUNT_EVENT_LIMIT] = v->n_events;
}

static int64_t number_of_device(void *context, int64_t process) {
    viewer *v = context;
    const tm_viewer_plane *plane = tm_viewer_plane_of(&v->space, process);
    return plane ? device_of(v, plane) : -1;
}

static bool write_space(viewer *v, tm_vec *out) {
    tm_viewer_plane *planes = v->space.planes.data;
    const tm_viewer_devices devices = {number_of_device, v};
    for (size_t i = 0; i < v->space.planes.n; i++)
        planes[i].core = device_of(v, &planes[i]);
    return tm_viewer_write(&v->space, stat_names, N_STATS + 1, out) &&
           tm_viewer_programs_write(&v->programs, v->space.texts, &devices, out);
}

tm_status tm_viewer_to_space(tm_source *source, tm_trace *trace, tm_vec *out, tm_error *err) {
    static const tm_chrome_form form = {
        .fields = fields, .n_fields = N_FIELDS, .picoseconds = true, .emit = take};
    viewer v = {.trace = trace, .scratch = TM_VEC(char)};
    tm_part part;
    tm_part_init(&part, trace);
    tm_viewer_programs_init(&v.programs);
    tm_status status = tm_viewer_space_init(&v.space) ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK)
        status = tm_chrome_read_part(source, &form, -1, &v, &part, err);
    if (status == TM_ERR_INPUT && trace->truncated && v.n_events > 0)
        status = TM_OK;
    check_cut(&v);
    if (status == TM_OK && !write_space(&v, out))
        status = tm_fail_memory(err);
    tm_viewer_space_free(&v.space);
    tm_viewer_programs_free(&v.programs);
    tm_vec_free(&v.scratch);
    tm_part_free(&part);
    return status;
}
