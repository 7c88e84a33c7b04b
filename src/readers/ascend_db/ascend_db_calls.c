/* What threads did: CANN calls, PyTorch operators, Python functions, ranges of the program. */
#include <string.h>

#include "ascend_db_reader.h"
#include "base/sorted.h"
#include "base/sums.h"
#include "readers/ascend/ascend_shapes.h"

/* In `connections`: the id of a list of connections, and one connection of this list. In `stacks`:
 * the id of a call chain, and the name id of its stack. */
typedef struct entry {
    int64_t id, value;
} entry;

void tm_ascend_db_calls_init(tm_ascend_db *d) {
    d->connections = TM_VEC(entry);
    d->stacks = TM_VEC(entry);
    d->scratch = TM_VEC(char);
}

void tm_ascend_db_calls_free(tm_ascend_db *d) {
    TM_VECS_FREE(&d->connections, &d->stacks, &d->scratch);
}

TM_ORDER_BY(by_id, entry, id, value);

/* Returns the lowest value that belongs to an id. Returns @p none if the id is -1 or has no
 * value. */
static int64_t first_of(const tm_vec *vec, int64_t id, int64_t none) {
    const entry *v = vec->data;
    size_t i = tm_bisect(v, vec->n, sizeof *v, &id, tm_is_less_i64);
    return id >= 0 && i < vec->n && v[i].id == id ? v[i].value : none;
}

static tm_status each_connection(void *context, sqlite3_value **values, tm_error *err) {
    tm_ascend_db *d = context;
    const entry added = {tm_db_int(values, 0, -1), tm_db_int(values, 1, -1)};
    return tm_vec_append(&d->connections, &added, 1) ? TM_OK : tm_fail_memory(err);
}

/* Names the last stack, whose functions are in d->scratch. */
static bool end_stack(tm_ascend_db *d) {
    if (d->stacks.n == 0)
        return true;
    uint32_t name =
        tm_names_intern(d->names, d->scratch.n > 0 ? d->scratch.data : "", d->scratch.n);
    d->scratch.n = 0;
    ((entry *)d->stacks.data)[d->stacks.n - 1].value = name;
    return name != TM_NAME_FAILED;
}

/* Adds a function to the current stack. The rows of a stack are consecutive, innermost function
 * first. */
static tm_status each_function(void *context, sqlite3_value **values, tm_error *err) {
    tm_ascend_db *d = context;
    const entry added = {tm_db_int(values, 0, -1), TM_NO_NAME};
    const tm_json_text text = tm_ascend_db_text(&d->strings, tm_db_int(values, 1, -1));
    const entry *v = d->stacks.data;
    if (d->stacks.n == 0 || v[d->stacks.n - 1].id != added.id) {
        if (!end_stack(d) || !tm_vec_append(&d->stacks, &added, 1))
            return tm_fail_memory(err);
    } else if (!tm_vec_append(&d->scratch, ";", 1)) {
        return tm_fail_memory(err);
    }
    return text.size == 0 || tm_vec_append(&d->scratch, text.bytes, text.size)
               ? TM_OK
               : tm_fail_memory(err);
}

static tm_status read_lists(tm_ascend_db *d, tm_error *err) {
    static const char *const connections[] = {"id", "connectionId"}, *const stacks[] = {"id",
                                                                                        "stack"};
    TM_TRY(tm_ascend_db_scan(d, &(tm_db_query){"CONNECTION_IDS", connections, 2, NULL, NULL},
                             each_connection, err));
    TM_TRY(tm_ascend_db_scan(d, &(tm_db_query){"PYTORCH_CALLCHAINS", stacks, 2, NULL, NULL},
                             each_function, err));
    if (!end_stack(d))
        return tm_fail_memory(err);
    tm_sort(d->connections.data, d->connections.n, sizeof(entry), by_id);
    tm_sort(d->stacks.data, d->stacks.n, sizeof(entry), by_id);
    return TM_OK;
}

enum { BEGIN, END, THREAD, NAME, CONNECTION, TYPE, SEQUENCE, FORWARD_THREAD, SHAPES, STACK, TYPES };

static tm_status add_on_thread(tm_ascend_db *d, sqlite3_value **values, tm_category category,
                               uint32_t *row, tm_error *err) {
    const tm_raw_event event = {.kind = TM_DURATION,
                                .category = (uint8_t)category,
                                .name = tm_ascend_db_name(&d->strings, tm_db_int(values, NAME, -1)),
                                .track = tm_ascend_db_thread(d, tm_db_int(values, THREAD, -1))};
    tm_ascend_db_tell(d);
    return tm_ascend_db_add(d, values, event, row, err);
}

static tm_status each_call(void *context, sqlite3_value **values, tm_error *err) {
    tm_ascend_db *d = context;
    int64_t connection = tm_db_int(values, CONNECTION, -1);
    uint32_t row;
    TM_TRY(add_on_thread(d, values, TM_CAT_RUNTIME, &row, err));
    if (row == TM_NO_EVENT || connection < 0)
        return TM_OK;
    const tm_raw_event *event = (const tm_raw_event *)d->trace->events.data + row;
    return tm_ascend_flows_connect(&d->flows, true, connection, event->track, event->begin_ns)
               ? TM_OK
               : tm_fail_memory(err);
}

/* Values of the column type of PYTORCH_API (ENUM_API_TYPE), which older databases lack. */
enum { OPERATOR = 50001, QUEUE, PYTHON, MARK };

static tm_category category_of(int64_t type, const tm_json_text *name) {
    if (type == PYTHON)
        return TM_CAT_PYTHON;
    if (type == QUEUE ||
        (type < 0 && (tm_json_begins(name, "Enqueue") || tm_json_begins(name, "Dequeue@"))))
        return TM_CAT_RUNTIME;
    if (tm_json_begins(name, "ProfilerStep#"))
        return TM_CAT_USER_ANNOTATION;
    return type == OPERATOR || type < 0 ? TM_CAT_CPU_OP : TM_CAT_OTHER;
}

static bool add_operator(tm_ascend_db *d, sqlite3_value **values, uint32_t row) {
    const tm_operator_attr attr = {
        .sequence = tm_db_int(values, SEQUENCE, -1),
        .event = row,
        .forward = TM_NO_EVENT,
        .stack = (uint32_t)first_of(&d->stacks, tm_db_int(values, STACK, -1), TM_NO_NAME),
        .thread = tm_narrow_i32(tm_db_int(values, FORWARD_THREAD, 0)),
    };
    tm_json_text dims = tm_ascend_db_text(&d->strings, tm_db_int(values, SHAPES, -1));
    if (!tm_ascend_shapes_are(&dims)) /* some versions of torch_npu swap shapes and types */
        dims = tm_ascend_db_text(&d->strings, tm_db_int(values, TYPES, -1));
    return ((attr.sequence < 0 && attr.stack == TM_NO_NAME) ||
            tm_vec_append(&d->trace->attrs[TM_ATTR_OPERATOR], &attr, 1)) &&
           tm_ascend_shapes_add(d->trace, d->names, &d->scratch, &dims, row);
}

static tm_status each_api(void *context, sqlite3_value **values, tm_error *err) {
    tm_ascend_db *d = context;
    const tm_json_text name = tm_ascend_db_text(&d->strings, tm_db_int(values, NAME, -1));
    tm_category category = category_of(tm_db_int(values, TYPE, -1), &name);
    uint32_t row;
    bool ok = true;
    TM_TRY(add_on_thread(d, values, category, &row, err));
    if (row == TM_NO_EVENT)
        return TM_OK;
    int64_t queued = first_of(&d->connections, tm_db_int(values, CONNECTION, -1), -1);
    if (category == TM_CAT_RUNTIME && queued >= 0)
        ok = tm_ascend_flows_queue(&d->flows, tm_json_begins(&name, "Dequeue"), queued, row);
    else if (category == TM_CAT_CPU_OP)
        ok = add_operator(d, values, row);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Adds a range of the program (push and pop, or start and end), or a mark. */
static tm_status each_range(void *context, sqlite3_value **values, tm_error *err) {
    enum { EVENT = CONNECTION, MOMENT = 0, MOMENT_TOO = 3 };
    tm_ascend_db *d = context;
    int64_t kind = tm_db_int(values, EVENT, -1);
    bool moment = kind == MOMENT || kind == MOMENT_TOO;
    const tm_raw_event event = {.kind = moment ? TM_INSTANT : TM_DURATION,
                                .category = moment ? TM_CAT_CPU_INSTANT : TM_CAT_USER_ANNOTATION,
                                .name = tm_ascend_db_name(&d->strings, tm_db_int(values, NAME, -1)),
                                .track = tm_ascend_db_thread(d, tm_db_int(values, THREAD, -1))};
    uint32_t row;
    return tm_ascend_db_add(d, values, event, &row, err);
}

static tm_status each_os_call(void *context, sqlite3_value **values, tm_error *err) {
    uint32_t row;
    return add_on_thread(context, values, TM_CAT_OS_RUNTIME, &row, err);
}

static tm_status each_collection(void *context, sqlite3_value **values, tm_error *err) {
    tm_ascend_db *d = context;
    const tm_raw_event event = {.kind = TM_DURATION,
                                .category = TM_CAT_OTHER,
                                .name = tm_names_intern_string(d->names, "GC"),
                                .track = tm_ascend_db_thread(d, tm_db_int(values, THREAD, -1))};
    uint32_t row;
    return tm_ascend_db_add(d, values, event, &row, err);
}

#define ON_THREAD "startNs", "endNs", "globalTid"

tm_status tm_ascend_db_read_calls(tm_ascend_db *d, tm_error *err) {
    static const char *const api[] = {ON_THREAD,     "name",           "connectionId",
                                      "type",        "sequenceNumber", "fwdThreadId",
                                      "inputShapes", "callchainId",    "inputDtypes"};
    static const char *const range[] = {ON_THREAD, "message", "eventType"};
    TM_TRY(read_lists(d, err));
    TM_TRY(tm_ascend_db_scan(d, &(tm_db_query){"CANN_API", api, 5, NULL, NULL}, each_call, err));
    TM_TRY(tm_ascend_db_scan(d, &(tm_db_query){"PYTORCH_API", api, 11, NULL, NULL}, each_api, err));
    TM_TRY(
        tm_ascend_db_scan(d, &(tm_db_query){"MSTX_EVENTS", range, 5, NULL, NULL}, each_range, err));
    TM_TRY(tm_ascend_db_scan(d, &(tm_db_query){"OSRT_API", api, 4, NULL, NULL}, each_os_call, err));
    return tm_ascend_db_scan(d, &(tm_db_query){"GC_RECORD", api, 3, NULL, NULL}, each_collection,
                             err);
}
