/* Tasks of the device. Each kind of task has a table of descriptions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ascend_db_reader.h"
#include "base/sorted.h"
#include "base/sums.h"
#include "readers/ascend/ascend_collective.h"
#include "readers/ascend/ascend_peers.h"

/* Facts about a task that are not in its row of TASK. */
typedef struct info {
    int64_t task; /* globalTaskId */
    int64_t name; /* id of the string with the task's name */
    uint8_t work; /* tm_ascend_work */
    /* Whether TASK has this task. If a task has several descriptions, only the first one is
     * marked. */
    bool found;
} info;

typedef struct copy_info {
    int64_t task, bytes, direction;
} copy_info;

/* An upper limit of element types: MindStudio lists 15. */
enum { TYPES_MAX = 256 };

/* A row of ENUM_HCCL_DATA_TYPE: the name of an element type. */
typedef struct element_type {
    int64_t id;
    char text[16];
} element_type;

void tm_ascend_db_tasks_init(tm_ascend_db *d) {
    d->infos = TM_VEC(info);
    d->copies = TM_VEC(copy_info);
    d->types = TM_VEC(element_type);
    d->mesh = TM_VEC(uint32_t);
}

void tm_ascend_db_tasks_free(tm_ascend_db *d) {
    TM_VECS_FREE(&d->infos, &d->copies, &d->types, &d->mesh);
}

static tm_status add_info(tm_ascend_db *d, sqlite3_value **values, tm_ascend_work work,
                          tm_error *err) {
    const info added = {tm_db_int(values, 0, -1), tm_db_int(values, 1, -1), (uint8_t)work, false};
    return tm_vec_append(&d->infos, &added, 1) ? TM_OK : tm_fail_memory(err);
}

static tm_status each_kernel(void *context, sqlite3_value **values, tm_error *err) {
    tm_ascend_db *d = context;
    d->describes_all = true;
    return add_info(d, values, TM_ASCEND_COMPUTES, err);
}

static tm_status each_part(void *context, sqlite3_value **values, tm_error *err) {
    return add_info(context, values, TM_ASCEND_PART, err);
}

static tm_status each_copy(void *context, sqlite3_value **values, tm_error *err) {
    tm_ascend_db *d = context;
    const copy_info added = {tm_db_int(values, 0, -1), tm_db_int(values, 1, -1),
                             tm_db_int(values, 2, -1)};
    return tm_vec_append(&d->copies, &added, 1) ? TM_OK : tm_fail_memory(err);
}

static tm_status each_type(void *context, sqlite3_value **values, tm_error *err) {
    tm_ascend_db *d = context;
    if (d->types.n >= TYPES_MAX)
        return TM_OK;
    element_type added = {.id = tm_db_int(values, 0, -1)};
    tm_text text = tm_db_text(values[1]);
    snprintf(added.text, sizeof added.text, "%.*s", (int)(text.size < 15 ? text.size : 15),
             text.bytes);
    return tm_vec_append(&d->types, &added, 1) ? TM_OK : tm_fail_memory(err);
}

/* Finds the description of a task; NULL if the task has none, or no id. */
static void *find(const tm_vec *vec, int64_t task) {
    char *v = vec->data;
    size_t i = tm_bisect(v, vec->n, vec->size, &task, tm_is_less_i64);
    return task >= 0 && i < vec->n && *(const int64_t *)(const void *)(v + i * vec->size) == task
               ? v + i * vec->size
               : NULL;
}

#define TASK_AND_NAME ((const char *const[]){"globalTaskId", "name"})

static tm_status read_infos(tm_ascend_db *d, tm_error *err) {
    static const char *const of_copy[] = {"globalTaskId", "size", "memcpyOperation"};
    static const char *const of_type[] = {"id", "name"};
    TM_TRY(tm_ascend_db_scan(d, &(tm_db_query){"COMPUTE_TASK_INFO", TASK_AND_NAME, 2, NULL, NULL},
                             each_kernel, err));
    TM_TRY(tm_ascend_db_scan(
        d, &(tm_db_query){"COMMUNICATION_TASK_INFO", TASK_AND_NAME, 2, NULL, NULL}, each_part,
        err));
    TM_TRY(tm_ascend_db_scan(
        d, &(tm_db_query){"COMMUNICATION_SCHEDULE_TASK_INFO", TASK_AND_NAME, 2, NULL, NULL},
        each_part, err));
    TM_TRY(tm_ascend_db_scan(d, &(tm_db_query){"MEMCPY_INFO", of_copy, 3, NULL, NULL}, each_copy,
                             err));
    /* tm_compare_i64 compares the first member, the task. */
    tm_sort(d->infos.data, d->infos.n, sizeof(info), tm_compare_i64);
    tm_sort(d->copies.data, d->copies.n, sizeof(copy_info), tm_compare_i64);
    return tm_ascend_db_scan(d, &(tm_db_query){"ENUM_HCCL_DATA_TYPE", of_type, 2, NULL, NULL},
                             each_type, err);
}

/* Classifies a task only by its type. If all kernels have descriptions, a task that computes but
 * has no description is not counted, because it is not a kernel but contains one. */
static tm_ascend_work work_of_type(tm_ascend_db *d, const tm_json_text *type) {
    static const tm_json_text none = {.bytes = ""}, other = {.bytes = "Other", .size = 5};
    bool known = false;
    tm_ascend_work work = tm_ascend_work_of(type, &none, &known);
    /* In text traces, a type that is not known here is the name of a task of type "Other". */
    if (!known) {
        work = tm_ascend_work_of(&other, type, &known);
        d->trace->counts[TM_COUNT_OTHER_TASK] += work == TM_ASCEND_COMPUTES && !d->describes_all;
    }
    if (work == TM_ASCEND_COPIES_OR_PART)
        return TM_ASCEND_COPIES;
    return work == TM_ASCEND_COMPUTES && d->describes_all ? TM_ASCEND_NOTHING : work;
}

static uint32_t copy_name(tm_ascend_db *d, const tm_json_text *type, const copy_info *copy) {
    /* ENUM_MEMCPY_OPERATION */
    static const char *const words[] = {"host to host",      "host to device",   "device to host",
                                        "device to device",  "managed memory",   "device to device",
                                        "host to device ex", "device to host ex"};
    tm_json_text word = {.bytes = ""};
    if (copy && copy->direction >= 0 && copy->direction < (int64_t)(sizeof words / sizeof *words)) {
        word.bytes = words[copy->direction];
        word.size = strlen(word.bytes);
    }
    const char *direction = tm_ascend_direction(type, &word);
    char text[64];
    int n = *direction ? snprintf(text, sizeof text, "%.32s (%s)", "MEMCPY_ASYNC", direction)
                       : snprintf(text, sizeof text, "MEMCPY_ASYNC");
    return tm_names_intern(d->names, text, (size_t)n);
}

static bool add_attributes(tm_ascend_db *d, tm_ascend_work work, const copy_info *copy,
                           uint32_t row) {
    const tm_copy_attr attr = {
        .bytes = copy ? copy->bytes : -1, .bandwidth_gbps = NAN, .event = row};
    if (work == TM_ASCEND_COPIES)
        return tm_vec_append(&d->trace->attrs[TM_ATTR_COPY], &attr, 1) != NULL;
    return work != TM_ASCEND_COMPUTES || tm_trace_add_kernel(d->trace, row, 0, NULL);
}

enum { BEGIN, END, DEVICE, CONNECTION, TASK, TYPE, STREAM };
static const char *const task_columns[] = {"startNs",      "endNs",    "deviceId", "connectionId",
                                           "globalTaskId", "taskType", "streamId"};

/* Names a kernel by its description, a copy by its direction, and any other task by its type. */
static uint32_t task_name(tm_ascend_db *d, sqlite3_value **values, tm_ascend_work work,
                          const info *reported, const copy_info *copy) {
    const int64_t type = tm_db_int(values, TYPE, -1);
    if (work == TM_ASCEND_COPIES) {
        const tm_json_text text = tm_ascend_db_text(&d->strings, type);
        return copy_name(d, &text, copy);
    }
    return tm_ascend_db_name(&d->strings,
                             work == TM_ASCEND_COMPUTES && reported ? reported->name : type);
}

/* Adds the end of an arrow at a device event. The launching call has the same connection. */
static bool connect(tm_ascend_db *d, int64_t connection, uint32_t row) {
    const tm_raw_event *event = (const tm_raw_event *)d->trace->events.data + row;
    return connection < 0 ||
           tm_ascend_flows_connect(&d->flows, false, connection, event->track, event->begin_ns);
}

static tm_status each_task(void *context, sqlite3_value **values, tm_error *err) {
    tm_ascend_db *d = context;
    int64_t task = tm_db_int(values, TASK, -1), device = tm_db_int(values, DEVICE, -1);
    const tm_json_text type = tm_ascend_db_text(&d->strings, tm_db_int(values, TYPE, -1));
    info *reported = find(&d->infos, task);
    const copy_info *copy = find(&d->copies, task);
    tm_ascend_work work = reported ? (tm_ascend_work)reported->work : work_of_type(d, &type);
    tm_raw_event event = {.kind = TM_DURATION, .category = TM_CAT_GPU_ANNOTATION};
    uint32_t row;
    if (reported)
        reported->found = true;
    tm_ascend_db_tell(d);
    d->device =
        d->device == -1 || d->device == device ? tm_narrow_i32(device) : TM_ASCEND_DB_SEVERAL;
    if (work == TM_ASCEND_COMPUTES || work == TM_ASCEND_COPIES)
        event.category = work == TM_ASCEND_COMPUTES ? TM_CAT_KERNEL : TM_CAT_MEMCPY;
    event.track = tm_ascend_db_stream(d, device, tm_db_int(values, STREAM, -1));
    event.name = task_name(d, values, work, reported, copy);
    TM_TRY(tm_ascend_db_add(d, values, event, &row, err));
    if (row == TM_NO_EVENT || event.category == TM_CAT_GPU_ANNOTATION)
        return TM_OK;
    return add_attributes(d, work, copy, row) && connect(d, tm_db_int(values, CONNECTION, -1), row)
               ? TM_OK
               : tm_fail_memory(err);
}

/* Returns torch's word for an element type; empty if the type is unknown. */
static tm_json_text type_of(const tm_ascend_db *d, int64_t id) {
    const element_type *v = d->types.data;
    for (size_t i = 0; i < d->types.n; i++) {
        const tm_json_text text = {.bytes = v[i].text, .size = strlen(v[i].text)};
        if (v[i].id == id && strcmp(v[i].text, "N/A") != 0)
            return tm_ascend_dtype(&text);
    }
    return (tm_json_text){.bytes = ""};
}

enum { GROUP = CONNECTION + 1, NAME, DTYPE, COUNT, RANKS, ALGORITHM };
static const char *const operation_columns[] = {"startNs",   "endNs",  "deviceId", "connectionId",
                                                "groupName", "opName", "dataType", "count",
                                                "rankSize",  "algType"};

static bool add_operation(tm_ascend_db *d, sqlite3_value **values, const tm_ascend_operation *op,
                          uint32_t row) {
    const uint32_t name = tm_ascend_db_name(&d->strings, tm_db_int(values, GROUP, -1));
    const tm_ascend_db_group *group = tm_ascend_db_group_of(&d->groups, name);
    int64_t n_ranks = group ? group->n_ranks : tm_db_int(values, RANKS, 0);
    const tm_ascend_collective reported = {
        .op = op,
        .dtype = type_of(d, tm_db_int(values, DTYPE, -1)),
        .count = tm_db_int(values, COUNT, -1),
        .n_ranks = n_ranks > 0 && n_ranks <= TM_GROUP_RANKS_MAX ? (int32_t)n_ranks : 0,
        .description = group ? group->description : TM_NO_NAME,
        .group =
            name != TM_NO_NAME ? name : tm_names_intern(d->names, op->group.bytes, op->group.size)};
    const tm_json_text algorithm = tm_ascend_db_text(&d->strings, tm_db_int(values, ALGORITHM, -1));
    return tm_ascend_add_collective(d->trace, d->names, &reported, row) &&
           (!tm_ascend_is_mesh(&algorithm) || tm_vec_append(&d->mesh, &row, 1)) &&
           connect(d, tm_db_int(values, CONNECTION, -1), row);
}

/* Parses an operation's name. A row whose name does not have HCCL's form is an operation without a
 * sequence number. */
static tm_ascend_operation operation_of(const tm_json_text *name) {
    tm_ascend_operation op = {.name = *name, .op = *name, .group = {.bytes = ""}, .seq = -1};
    (void)tm_ascend_operation_of(name, &op);
    return op;
}

static tm_status each_operation(void *context, sqlite3_value **values, tm_error *err) {
    tm_ascend_db *d = context;
    const tm_json_text name = tm_ascend_db_text(&d->strings, tm_db_int(values, NAME, -1));
    const tm_json_text group = tm_ascend_db_text(&d->strings, tm_db_int(values, GROUP, -1));
    const tm_ascend_operation op = operation_of(&name);
    int64_t device = tm_db_int(values, DEVICE, d->device < 0 ? -1 : d->device);
    uint32_t row;
    const tm_raw_event event = {
        .kind = TM_DURATION,
        .category = TM_CAT_KERNEL,
        .name = tm_names_intern(d->names, op.name.bytes, op.name.size),
        .track = tm_ascend_db_track(d, TM_TRACK_GPU, device, (tm_text){group.bytes, group.size})};
    TM_TRY(tm_ascend_db_add(d, values, event, &row, err));
    return row == TM_NO_EVENT || add_operation(d, values, &op, row) ? TM_OK : tm_fail_memory(err);
}

/* Counts the descriptions for which there is no event. A kernel has no event if TASK lacks it.
 * Parts of operations count only if no operation is recorded. */
static int64_t count_untimed(const tm_ascend_db *d) {
    const info *v = d->infos.data;
    const bool no_operation = d->trace->attrs[TM_ATTR_COLLECTIVE].n == 0;
    int64_t n = 0;
    for (size_t i = 0; i < d->infos.n; i++) {
        bool again = i > 0 && v[i].task >= 0 && v[i].task == v[i - 1].task;
        bool untimed = v[i].work == TM_ASCEND_COMPUTES ? !v[i].found : no_operation;
        n += untimed && !again;
    }
    return n;
}

tm_status tm_ascend_db_read_tasks(tm_ascend_db *d, tm_error *err) {
    TM_TRY(read_infos(d, err));
    TM_TRY(
        tm_ascend_db_scan(d, &(tm_db_query){"TASK", task_columns, 7, NULL, NULL}, each_task, err));
    TM_TRY(tm_ascend_db_scan(d,
                             &(tm_db_query){"COMMUNICATION_OP", operation_columns, 10, NULL, NULL},
                             each_operation, err));
    d->trace->counts[TM_COUNT_UNKNOWN_WORK_TIME] += count_untimed(d);
    return TM_OK;
}
