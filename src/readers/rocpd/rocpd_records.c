#include <cjson/cJSON.h>
#include <string.h>

#include "rocpd_document.h"

/* A table of records: their list, the statement that reads them, the meaning of each value, and the
 * function that handles values that are not fields of a record. */
typedef tm_status take(tm_rocpd_document *d, sqlite3_value **values, tm_rocprof_record *record,
                       tm_error *err);

enum { COLUMNS = 16 };
typedef struct table_def {
    tm_rocprof_list list;
    int n;
    const char *table, *sql;
    take *take;
    uint8_t fields[COLUMNS]; /* meaning of each value; only the first n are used */
} table_def;

static tm_status give(tm_rocpd_document *d, tm_rocprof_list list, const tm_rocprof_record *record,
                      tm_error *err) {
    return d->sink->record(d->sink->context, &d->tables, list, record) ? TM_OK
                                                                       : tm_fail_memory(err);
}

/* Values of regions and samples that are not fields of a record. */
enum { CATEGORY, MESSAGE };

/* Stores the text of a marker. rocprofv3 writes the text as {"message":"TEXT"}; rocprof-sys writes
 * it as the name of the range. */
static bool put_message(tm_rocpd_document *d, const tm_rocprof_record *record, tm_text extra) {
    char name[1024];
    cJSON *root = cJSON_ParseWithLength(extra.bytes, extra.size);
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "message"));
    const tm_rocprof_text *call =
        tm_rocpd_text(&d->strings, tm_rocprof_int(record, R_OPERATION, -1));
    size_t size = text ? strlen(text) : 0;
    if (!text && call && !tm_rocprof_begins(&d->tables, call, "roctx")) {
        size = call->size < sizeof name ? call->size : sizeof name;
        /* A copy, because `texts` may move. */
        memcpy(name, (const char *)d->tables.texts.data + call->at, size);
        text = name;
    }
    bool ok = tm_rocpd_put_marker(&d->tables, record, text, size);
    cJSON_Delete(root);
    return ok;
}

static tm_rocprof_list list_of(const tm_rocpd_document *d, int64_t category) {
    return category < 0 || (size_t)category >= d->classes.n
               ? L_OTHER
               : (tm_rocprof_list)((const uint8_t *)d->classes.data)[category];
}

static tm_status take_call(tm_rocpd_document *d, tm_rocprof_list list, sqlite3_value **values,
                           tm_rocprof_record *record, tm_error *err) {
    if (list == L_SAMPLES) { /* skip sampled stacks and values of counters */
        if (d->sink->counts)
            d->sink->counts[TM_COUNT_OTHER_PHASE]++;
        return TM_OK;
    }
    if (list == L_MARKER && !tm_rocprof_has(record, R_CORRELATION))
        tm_rocpd_put(record, R_CORRELATION, 0);
    if (list == L_MARKER && !put_message(d, record, tm_db_text(values[MESSAGE])))
        return tm_fail_memory(err);
    return give(d, list, record, err);
}

static tm_status take_region(tm_rocpd_document *d, sqlite3_value **values,
                             tm_rocprof_record *record, tm_error *err) {
    int64_t category = tm_rocpd_string(&d->strings, tm_db_int(values, CATEGORY, -1));
    if (!tm_rocprof_has(record, R_OPERATION))
        tm_rocpd_put_name(record, category);
    return take_call(d, list_of(d, category), values, record, err);
}

/* Adds a sample. A sample is a marker without duration, or a call of zero duration. The file has
 * only the category of such a call, so the category becomes the call's name. */
static tm_status take_sample(tm_rocpd_document *d, sqlite3_value **values,
                             tm_rocprof_record *record, tm_error *err) {
    int64_t category = tm_rocpd_string(&d->strings, tm_db_int(values, CATEGORY, -1));
    tm_rocprof_list list = list_of(d, category);
    tm_rocpd_put_name(record, list == L_MARKER ? d->words[TM_ROCPD_MARK] : category);
    return take_call(d, list == L_OTHER ? L_SAMPLES : list, values, record, err);
}

/* Adds a memory record. Its name is the name that rocprofv3 gives to such an operation. */
static tm_status take_memory(tm_rocpd_document *d, sqlite3_value **values,
                             tm_rocprof_record *record, tm_error *err) {
    enum { TYPE, LEVEL };
    const char *type = tm_db_text(values[TYPE]).bytes;
    bool scratch = strcmp(tm_db_text(values[LEVEL]).bytes, "SCRATCH") == 0;
    tm_rocpd_word word = scratch ? TM_ROCPD_SCRATCH_ALLOCATE : TM_ROCPD_ALLOCATE;
    if (strcmp(type, "FREE") == 0)
        word = scratch ? TM_ROCPD_SCRATCH_FREE : TM_ROCPD_FREE;
    else if (strstr(type, "RECLAIM") && scratch)
        word = TM_ROCPD_SCRATCH_RECLAIM;
    tm_rocpd_put_name(record, d->words[word]);
    return give(d, scratch ? L_SCRATCH : L_MEMORY, record, err);
}

/* SQL that joins a record R with its event, and with its thread in the table of threads. */
#define OF(rows)                                                                                   \
    ") FROM " rows " R LEFT JOIN \"rocpd_event@\" E ON E.id = R.event_id LEFT JOIN "               \
    "\"rocpd_info_thread@\" T ON T.id = R.tid WHERE R.pid = ?1"
#define TID "coalesce(T.tid, R.tid)"

static const table_def tables[] = {
    {L_OTHER,
     7,
     "rocpd_region",
     "SELECT take_row(E.category_id, E.extdata, R.start, R.\"end\", R.name_id, E.stack_id, " TID OF(
         "\"rocpd_region@\""),
     take_region,
     {TM_ROCPD_EXTRA, TM_ROCPD_EXTRA, R_BEGIN, R_END, TM_ROCPD_NAME, R_CORRELATION, R_THREAD}},
    {L_OTHER,
     6,
     "rocpd_sample",
     "SELECT take_row(E.category_id, E.extdata, R.timestamp, R.timestamp, E.stack_id, " TID OF(
         "(SELECT S.timestamp, S.event_id, K.pid, K.tid FROM \"rocpd_sample@\" S JOIN "
         "\"rocpd_track@\" K ON K.id = S.track_id)"),
     take_sample,
     {TM_ROCPD_EXTRA, TM_ROCPD_EXTRA, R_BEGIN, R_END, R_CORRELATION, R_THREAD}},
    {L_DISPATCH,
     14,
     "rocpd_kernel_dispatch",
     "SELECT take_row(R.start, R.\"end\", R.agent_id, R.kernel_id, R.queue_id, R.stream_id, "
     "R.group_segment_size, R.workgroup_size_x, R.workgroup_size_y, R.workgroup_size_z, "
     "R.grid_size_x, R.grid_size_y, R.grid_size_z, E.stack_id" OF("\"rocpd_kernel_dispatch@\""),
     NULL,
     {R_BEGIN, R_END, R_AGENT, R_KERNEL, R_QUEUE, R_STREAM, R_GROUP_SEGMENT, R_BLOCK_X, R_BLOCK_Y,
      R_BLOCK_Z, R_GRID_X, R_GRID_Y, R_GRID_Z, R_CORRELATION}},
    {L_COPY,
     10,
     "rocpd_memory_copy",
     "SELECT take_row(R.start, R.\"end\", R.name_id, R.dst_agent_id, R.src_agent_id, R.size, "
     "R.queue_id, R.stream_id, E.stack_id, " TID OF("\"rocpd_memory_copy@\""),
     NULL,
     {R_BEGIN, R_END, TM_ROCPD_NAME, R_TO, R_FROM, R_BYTES, R_QUEUE, R_STREAM, R_CORRELATION,
      R_THREAD}},
    {L_MEMORY,
     9,
     "rocpd_memory_allocate",
     "SELECT take_row(R.type, R.level, R.start, R.\"end\", R.agent_id, R.address, R.size, "
     "E.stack_id, " TID OF("\"rocpd_memory_allocate@\""),
     take_memory,
     {TM_ROCPD_EXTRA, TM_ROCPD_EXTRA, R_BEGIN, R_END, R_AGENT, R_ADDRESS, R_ALLOCATED,
      R_CORRELATION, R_THREAD}},
};

/* Statements that find the devices of a process. */
static const table_def devices[] = {
    {L_DISPATCH,
     1,
     "rocpd_kernel_dispatch",
     "SELECT take_row(agent_id) FROM (SELECT DISTINCT agent_id FROM \"rocpd_kernel_dispatch@\" "
     "WHERE pid = ?1)",
     NULL,
     {R_AGENT}},
    {L_COPY,
     2,
     "rocpd_memory_copy",
     "SELECT take_row(dst_agent_id, src_agent_id) FROM (SELECT DISTINCT dst_agent_id, "
     "src_agent_id FROM \"rocpd_memory_copy@\" WHERE pid = ?1)",
     NULL,
     {R_TO, R_FROM}},
};

/* State while the rows of a table are passed to the sink. */
typedef struct scan {
    tm_rocpd_document *d;
    const table_def *def;
} scan;

static tm_status each_row(void *context, sqlite3_value **values, tm_error *err) {
    enum { REPORTED_AFTER = 1 << 14 };
    const scan *s = context;
    tm_rocpd_document *d = s->d;
    tm_rocprof_record record;
    if (++d->n_done % REPORTED_AFTER == 0 && d->n_done <= d->n_rows)
        tm_source_tell(d->source,
                       (int64_t)((double)d->db.size * (double)d->n_done / (double)d->n_rows));
    tm_rocpd_record(&d->strings, s->def->fields, s->def->n, values, &record);
    return s->def->take ? s->def->take(d, values, &record, err)
                        : give(d, s->def->list, &record, err);
}

tm_status tm_rocpd_read_records(tm_rocpd_document *d, tm_error *err) {
    bool listed = d->sink->devices_alone;
    const table_def *defs = listed ? devices : tables;
    size_t n = listed ? sizeof devices / sizeof *devices : sizeof tables / sizeof *tables;
    d->n_rows = d->n_done = 0;
    for (size_t i = 0; i < n && !listed; i++)
        d->n_rows += tm_rocpd_rows(d, defs[i].table);
    for (size_t i = 0; i < n; i++) {
        scan s = {d, &defs[i]};
        const tm_db_statement statement = {defs[i].sql, defs[i].n, 0};
        TM_TRY(tm_rocpd_select(d, defs[i].table, &statement, each_row, &s, err));
    }
    return TM_OK;
}
