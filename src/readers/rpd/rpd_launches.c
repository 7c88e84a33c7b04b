#include "rpd_launches.h"

#include "base/sorted.h"

void tm_rpd_launches_init(tm_rpd_launches *l) {
    l->launches = TM_VEC(tm_rpd_launch);
    l->calls = TM_VEC(tm_rpd_call);
    l->descriptions = TM_VEC(tm_rpd_description);
}

void tm_rpd_launches_free(tm_rpd_launches *l) {
    TM_VECS_FREE(&l->launches, &l->calls, &l->descriptions);
}

static tm_status each_launch(void *context, sqlite3_value **values, tm_error *err) {
    tm_rpd_launches *l = context;
    const tm_rpd_launch launch = {tm_db_int(values, 0, INT64_MIN), tm_db_int(values, 1, INT64_MIN)};
    const tm_rpd_call call = {.id = launch.call, .pid = INT64_MIN, .name = -1, .n = 1};
    return tm_vec_append(&l->launches, &launch, 1) &&
                   (call.id == INT64_MIN || tm_vec_append(&l->calls, &call, 1))
               ? TM_OK
               : tm_fail_memory(err);
}

/* Replaces several equal calls by one of them, and sets its `n` to their number. */
static void unite_calls(tm_vec *calls) {
    tm_rpd_call *v = calls->data;
    size_t n = 0;
    tm_sort(v, calls->n, sizeof *v, tm_compare_i64);
    for (size_t i = 0; i < calls->n; i++) {
        if (n > 0 && v[n - 1].id == v[i].id)
            v[n - 1].n++;
        else
            v[n++] = v[i];
    }
    calls->n = n;
}

static tm_rpd_call *find(const tm_rpd_launches *l, int64_t id) {
    tm_rpd_call *v = l->calls.data;
    size_t i = tm_bisect(v, l->calls.n, sizeof *v, &id, tm_is_less_i64);
    return i < l->calls.n && v[i].id == id ? &v[i] : NULL;
}

static tm_status each_call(void *context, sqlite3_value **values, tm_error *err) {
    tm_rpd_call *call = find(context, tm_db_int(values, 0, INT64_MIN));
    (void)err;
    if (call) {
        call->pid = tm_db_int(values, 1, INT64_MIN);
        call->name = tm_db_int(values, 2, -1);
    }
    return TM_OK;
}

static const tm_rocprof_field described[TM_RPD_FIELDS] = {
    R_BYTES, R_GROUP_SEGMENT, R_GRID_X, R_GRID_Y, R_GRID_Z, R_BLOCK_X, R_BLOCK_Y, R_BLOCK_Z};

/* Takes the size of a copy or the shape of a kernel; values of the other kind are null. */
static tm_status each_description(void *context, sqlite3_value **values, tm_error *err) {
    tm_rpd_launches *l = context;
    tm_rpd_call *call = find(l, tm_db_int(values, 0, INT64_MIN));
    const tm_rpd_description none = {.present = 0};
    if (!call)
        return TM_OK;
    if (call->description == 0 && !tm_vec_append(&l->descriptions, &none, 1))
        return tm_fail_memory(err);
    call->description = call->description ? call->description : (uint32_t)l->descriptions.n;
    tm_rpd_description *out = (tm_rpd_description *)l->descriptions.data + call->description - 1;
    for (int i = 0; i < TM_RPD_FIELDS; i++) {
        int type = sqlite3_value_type(values[i + 1]);
        out->bad_values += type != SQLITE_NULL && type != SQLITE_INTEGER;
        if (type == SQLITE_INTEGER) {
            out->values[i] = (uint64_t)sqlite3_value_int64(values[i + 1]);
            out->present |= 1U << i;
        }
    }
    return TM_OK;
}

TM_ORDER_BY(by_operation, tm_rpd_launch, operation, call);

tm_status tm_rpd_launches_read(tm_rpd_launches *l, const tm_db *db, tm_error *err) {
    TM_TRY(tm_db_select(
        db, &(tm_db_statement){"SELECT take_row(op_id, api_id) FROM rocpd_api_ops", 2, 0},
        each_launch, l, err));
    tm_sort(l->launches.data, l->launches.n, sizeof(tm_rpd_launch), by_operation);
    unite_calls(&l->calls);
    return tm_db_select(
        db, &(tm_db_statement){"SELECT take_row(id, pid, apiName_id) FROM rocpd_api", 3, 0},
        each_call, l, err);
}

tm_status tm_rpd_descriptions_read(tm_rpd_launches *l, const tm_db *db, tm_error *err) {
    static const char *const statements[] = {
        "SELECT take_row(api_ptr_id, NULL, nullif(groupSegmentSize, ''), nullif(gridX, ''), "
        "nullif(gridY, ''), nullif(gridZ, ''), nullif(workgroupX, ''), nullif(workgroupY, ''), "
        "nullif(workgroupZ, '')) FROM rocpd_kernelapi",
        "SELECT take_row(api_ptr_id, nullif(size, ''), NULL, NULL, NULL, NULL, NULL, NULL, NULL) "
        "FROM rocpd_copyapi"};
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        TM_TRY(tm_db_select(db, &(tm_db_statement){statements[i], 1 + TM_RPD_FIELDS, 0},
                            each_description, l, err));
    return TM_OK;
}

const tm_rpd_launch *tm_rpd_launches_of(const tm_rpd_launches *l, int64_t operation, size_t *n) {
    const tm_rpd_launch *v = l->launches.data;
    size_t i = tm_bisect(v, l->launches.n, sizeof *v, &operation, tm_is_less_i64);
    for (*n = 0; i + *n < l->launches.n && v[i + *n].operation == operation;)
        ++*n;
    return *n > 0 ? v + i : NULL;
}

const tm_rpd_call *tm_rpd_call_of(const tm_rpd_launches *l, int64_t id) {
    return find(l, id);
}

/* If a call launched several operations, the call's size and shape belong to only one of them. */
void tm_rpd_describe(const tm_rpd_launches *l, const tm_rpd_call *call, tm_rocprof_record *record) {
    tm_rocpd_put(record, R_CORRELATION, (uint64_t)call->id);
    if (call->description == 0)
        return;
    const tm_rpd_description *from =
        (const tm_rpd_description *)l->descriptions.data + call->description - 1;
    record->bad_values += from->bad_values;
    for (int i = 0; i < TM_RPD_FIELDS && call->n == 1; i++)
        if (from->present >> i & 1)
            tm_rocpd_put(record, described[i], from->values[i]);
}
