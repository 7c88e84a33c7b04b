#include "nsys_nvtx.h"

#include <string.h>
#include <strings.h>

#include "nsys_mpi.h"
#include "nsys_nccl.h"
#include "nsys_units.h"

enum { TYPE = TM_NSYS_REST, TEXT, TEXT_ID, DOMAIN, PAYLOAD };
enum { MARK = 34, PUSH_POP = 59, START_END = 60, DOMAIN_CREATE = 75 };

static tm_status take_domain(void *context, sqlite3_value **values, tm_error *err) {
    tm_nsys_emitter *e = context;
    if ((tm_db_int(values, TM_NSYS_AT, 0) & TM_NSYS_PROCESS_MASK) != e->unit->process)
        return TM_OK;
    tm_nsys_domain d = {tm_db_int(values, DOMAIN, 0), tm_nsys_intern(e, tm_db_text(values[TEXT]))};
    return d.name != TM_NAME_FAILED && tm_vec_append(&e->domains, &d, 1) ? TM_OK
                                                                         : tm_fail_memory(err);
}

static const tm_nsys_domain *find_domain(const tm_nsys_emitter *e, int64_t id) {
    const tm_nsys_domain *v = e->domains.data;
    for (size_t i = 0; i < e->domains.n; i++)
        if (v[i].id == id)
            return &v[i];
    return NULL;
}

/* Sets *out to the name of a domain, which is empty if the domain has no name. Usually, the row of
 * a domain comes before the rows of its ranges. If it does not, all rows are searched for domains,
 * but only once. */
static tm_status domain_name(tm_nsys_emitter *e, int64_t id, tm_text *out, tm_error *err) {
    static const char *const columns[] = {TM_NSYS_NVTX_COLUMNS};
    const tm_db_query query = {"NVTX_EVENTS", columns, DOMAIN + 1, "eventType = 75", "eventType"};
    const tm_nsys_domain *domain = find_domain(e, id);
    if (!domain && !e->has_all_domains) {
        e->has_all_domains = true;
        e->domains.n = 0;
        TM_TRY(tm_db_scan(e->db, &query, 0, take_domain, e, err));
        domain = find_domain(e, id);
    }
    *out = domain ? tm_names_text(e->names, domain->name) : (tm_text){"", 0};
    return TM_OK;
}

/* Puts "DOMAIN:" before the name. Does nothing if the domain is the default one, or if the name
 * already starts with the name of the domain, like NCCL's ncclSend and MPI's MPI_Send. */
static tm_status name_in_domain(tm_nsys_emitter *e, tm_text of, uint32_t *name, tm_error *err) {
    tm_text text = tm_names_text(e->names, *name);
    if (of.size == 0 || (text.size >= of.size && strncasecmp(text.bytes, of.bytes, of.size) == 0))
        return TM_OK;
    e->scratch.n = 0;
    if (!tm_vec_append(&e->scratch, of.bytes, of.size) || !tm_vec_append(&e->scratch, ":", 1) ||
        !tm_vec_append(&e->scratch, text.bytes, text.size))
        return tm_fail_memory(err);
    *name = tm_names_intern(e->names, e->scratch.data, e->scratch.n);
    return *name == TM_NAME_FAILED ? tm_fail_memory(err) : TM_OK;
}

/* Returns the length of an operator's name without the suffix that torch's emit_nvtx adds, which
 * has different numbers in every call. */
static size_t operator_name(tm_text text) {
    const char *end = text.bytes + text.size, *p = text.bytes;
    while ((p = memchr(p, ',', (size_t)(end - p)))) {
        if (strncmp(p, ", op_id = ", 10) == 0 || strncmp(p, ", seq = ", 8) == 0)
            return (size_t)(p - text.bytes);
        p++;
    }
    return text.size;
}

/* Sets the name of a range, without its domain. Also sets the category if torch's emit_nvtx made
 * the range. */
static tm_status name_of(tm_nsys_emitter *e, sqlite3_value **values, tm_raw_event *event,
                         tm_error *err) {
    tm_text text = tm_db_text(values[TEXT]);
    if (text.size == 0)
        return tm_nsys_string(e, tm_db_int(values, TEXT_ID, -1), false, &event->name, err);
    size_t size = operator_name(text);
    if (size < text.size)
        event->category = TM_CAT_CPU_OP;
    text.size = size;
    event->name = tm_nsys_intern(e, text);
    return event->name == TM_NAME_FAILED ? tm_fail_memory(err) : TM_OK;
}

static tm_status keep_nccl_range(tm_nsys_emitter *e, sqlite3_value **values, uint32_t row,
                                 uint32_t name, tm_error *err) {
    const tm_raw_event *event = (const tm_raw_event *)e->trace->events.data + row;
    tm_nsys_range range = {
        .begin_ns = event->begin_ns,
        .end_ns = event->begin_ns + event->duration_ns,
        .track = event->track,
        .name = name,
        .payload = tm_nsys_decode_payload(&e->fields, tm_db_int(values, DOMAIN, 0),
                                          sqlite3_value_blob(values[PAYLOAD]),
                                          (size_t)sqlite3_value_bytes(values[PAYLOAD])),
    };
    return tm_vec_append(&e->ranges, &range, 1) ? TM_OK : tm_fail_memory(err);
}

tm_status tm_nsys_nvtx_row(tm_nsys_emitter *e, sqlite3_value **values, tm_error *err) {
    int64_t type = tm_db_int(values, TYPE, -1), thread = tm_db_int(values, TM_NSYS_AT, 0);
    uint32_t row;
    if (type == DOMAIN_CREATE && !e->has_all_domains)
        return take_domain(e, values, err);
    if (type != MARK && type != PUSH_POP && type != START_END)
        /* The other types of rows name a category or a thread. */
        return TM_OK;
    tm_raw_event event = {.category = TM_CAT_USER_ANNOTATION,
                          .kind = type == MARK ? TM_INSTANT : TM_DURATION};
    TM_TRY(name_of(e, values, &event, err));
    uint32_t bare = event.name;
    tm_text domain = {"", 0};
    if (tm_db_int(values, DOMAIN, 0) != 0)
        TM_TRY(domain_name(e, tm_db_int(values, DOMAIN, 0), &domain, err));
    if (type == PUSH_POP && strcmp(domain.bytes, "MPI") == 0 &&
        strncmp(tm_names_text(e->names, bare).bytes, "MPI_", 4) == 0)
        /* nsys up to 2022.4 has no MPI tables, so the range is needed. */
        return tm_nsys_mpi_range(e, values, bare, err);
    TM_TRY(name_in_domain(e, domain, &event.name, err));
    event.track = tm_nsys_track_of(e, TM_TRACK_CPU, tm_nsys_pid(thread), thread & 0xFFFFFF);
    TM_TRY(tm_nsys_add(e, values, event, &row, err));
    bool nccl = strncmp(tm_names_text(e->names, bare).bytes, "nccl", 4) == 0;
    return nccl && type == PUSH_POP && row != TM_NO_EVENT
               ? keep_nccl_range(e, values, row, bare, err)
               : TM_OK;
}
