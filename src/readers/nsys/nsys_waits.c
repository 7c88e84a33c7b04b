#include "nsys_waits.h"

#include <stdlib.h>

#include "base/sorted.h"

/* A recorded cudaEventRecord. */
typedef struct record {
    int64_t context, event; /* ids; the id of an event is unique only within its context */
    int64_t correlation;    /* id of the call; ids ascend within a process */
    /* Number of the call. A wait for the call has the same number. 0 in old exports. */
    int64_t sync;
    int64_t stream;
} record;

/* Returns an id. Returns -1 for UINT32_MAX, which stands for an id that was not recorded. */
static int64_t reported(int64_t id) {
    return id == UINT32_MAX ? -1 : id;
}

tm_status tm_nsys_record_row(tm_nsys_emitter *e, sqlite3_value **values, tm_error *err) {
    enum { CONTEXT = TM_NSYS_REST, STREAM, CORRELATION, EVENT, SYNC };
    const record row = {
        .context = tm_db_int(values, CONTEXT, 0),
        .event = tm_db_int(values, EVENT, -1),
        .correlation = tm_db_int(values, CORRELATION, 0),
        .sync = tm_db_int(values, SYNC, 0),
        .stream = reported(tm_db_int(values, STREAM, -1)),
    };
    e->records.size = sizeof row;
    return tm_vec_append(&e->records, &row, 1) ? TM_OK : tm_fail_memory(err);
}

TM_ORDER_BY(by_place, record, context, event, correlation);

static bool is_before(const void *element, const void *key) {
    return by_place(element, key) < 0;
}

/* Returns the call of cudaEventRecord for which a wait waits. This is the last call for the same
 * event before the wait. Returns NULL if the call is unknown, or if it was made before the
 * recording. */
static const record *find_record(tm_nsys_emitter *e, const record *wait) {
    record *records = e->records.data;
    size_t n = e->records.n;
    if (n > 0 && !e->has_sorted_records)
        qsort(records, n, sizeof *records, by_place);
    e->has_sorted_records = true;
    size_t at = tm_bisect(records, n, sizeof *records, wait, is_before);
    const record *last = at > 0 ? &records[at - 1] : NULL;
    bool same = last && last->context == wait->context && last->event == wait->event;
    bool other = same && last->sync != 0 && wait->sync != 0 && last->sync != wait->sync;
    return same && !other ? last : NULL;
}

/* Returns the kind of a wait. If a wait for an event has neither an event id nor a stream, it is a
 * wait for the whole context. Exports of schema 3.13 write cudaDeviceSynchronize in this way. */
static tm_wait_kind kind_of(int64_t type, int64_t stream, int64_t event) {
    bool known = type > 0 && type < TM_N_WAIT_KINDS;
    bool context = type == TM_WAIT_EVENT_SYNC && stream < 0 && event < 0;
    return context ? TM_WAIT_CONTEXT_SYNC : known ? (tm_wait_kind)type : TM_WAIT_OTHER;
}

tm_status tm_nsys_wait_row(tm_nsys_emitter *e, sqlite3_value **values, tm_error *err) {
    enum { STREAM = TM_NSYS_REST + 1, CONTEXT, CORRELATION, TYPE, EVENT, SYNC };
    const record wait = {
        .context = tm_db_int(values, CONTEXT, 0),
        .event = reported(tm_db_int(values, EVENT, 0)),
        .correlation = tm_db_int(values, CORRELATION, 0),
        .sync = tm_db_int(values, SYNC, 0),
        .stream = reported(tm_db_int(values, STREAM, -1)),
    };
    tm_wait_kind kind = kind_of(tm_db_int(values, TYPE, 0), wait.stream, wait.event);
    tm_wait_attr attr = {
        .correlation = wait.correlation,
        .stream = kind == TM_WAIT_STREAM_SYNC ? -1 : wait.stream,
        .on_stream = kind == TM_WAIT_STREAM_SYNC ? wait.stream : -1,
        .call = TM_NO_EVENT,
        .record = TM_NO_EVENT,
        .kind = (uint8_t)kind,
    };
    TM_TRY(tm_nsys_add_on_stream(e, values, TM_CAT_CUDA_SYNC,
                                 tm_names_intern_string(e->names, tm_wait_text(kind)), &attr.event,
                                 err));
    if (attr.event == TM_NO_EVENT)
        return TM_OK;
    bool for_event = kind == TM_WAIT_EVENT_SYNC || kind == TM_WAIT_STREAM_WAIT;
    const record *found = for_event ? find_record(e, &wait) : NULL;
    if (found) {
        attr.on_stream = found->stream;
        attr.record_correlation = found->correlation;
    }
    return tm_vec_append(&e->trace->attrs[TM_ATTR_WAIT], &attr, 1) ? TM_OK : tm_fail_memory(err);
}
