#include "nsys_nccl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/letters.h"
#include "base/sorted.h"
#include "timeline/classify.h"

/* Position of a kept field in the payloads of a schema. */
typedef struct field {
    int64_t domain, schema;
    int64_t offset; /* bytes from the start of the payload */
    int size;       /* bytes */
    size_t member;  /* offset within tm_nsys_payload */
} field;

/* The fields of payloads that are kept, with NCCL's names. */
static const struct {
    const char *name;
    size_t member;
} kept[] = {
    {"NCCL communicator ID", offsetof(tm_nsys_payload, communicator)},
    {"Message size [bytes]", offsetof(tm_nsys_payload, bytes)},
    {"Peer rank", offsetof(tm_nsys_payload, peer)},
    {"No. of ranks", offsetof(tm_nsys_payload, n_ranks)},
    {"Rank", offsetof(tm_nsys_payload, rank)},
    {"CUDA device", offsetof(tm_nsys_payload, device)},
};

/* Returns the size of an NVTX type code [bytes]; 0 for types that none of these fields has. */
static int size_of_type(int64_t type) {
    enum { INT32 = 5, UINT64 = 18, SIZE_T = 22 };
    return type == INT32 ? 4 : type == UINT64 || type == SIZE_T ? 8 : 0;
}

static tm_status take_field(void *context, sqlite3_value **values, tm_error *err) {
    enum { DOMAIN, SCHEMA, TYPE, NAME, OFFSET };
    tm_vec *fields = context;
    tm_text name = tm_db_text(values[NAME]);
    field f = {.domain = tm_db_int(values, DOMAIN, -1),
               .schema = tm_db_int(values, SCHEMA, -1),
               .offset = tm_db_int(values, OFFSET, 0),
               .size = size_of_type(tm_db_int(values, TYPE, -1))};
    for (size_t i = 0; i < sizeof kept / sizeof *kept && f.size > 0; i++) {
        if (strcmp(kept[i].name, name.bytes) != 0)
            continue;
        f.member = kept[i].member;
        if (!tm_vec_append(fields, &f, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

tm_status tm_nsys_read_schemas(const tm_db *db, tm_vec *fields, tm_error *err) {
    static const char *const columns[] = {"domainId", "schemaId", "type", "name", "offset"};
    const tm_db_query query = {"NVTX_PAYLOAD_SCHEMA_ENTRIES", columns, 5, NULL, NULL};
    *fields = TM_VEC(field);
    return tm_db_scan(db, &query, 0, take_field, fields, err);
}

/* Reads a signed or unsigned little-endian integer. */
static int64_t integer_at(const unsigned char *p, int size) {
    int32_t narrow;
    int64_t wide;
    memcpy(&narrow, p, sizeof narrow);
    if (size == (int)sizeof narrow)
        return narrow;
    memcpy(&wide, p, sizeof wide);
    return wide;
}

/* The binary data is a header of 32 bytes, then the payload as the last bytes. Only the schema and
 * the payload's size are taken from the header. */
tm_nsys_payload tm_nsys_decode_payload(const tm_vec *fields, int64_t domain, const void *bytes,
                                       size_t size) {
    enum { HEADER = 32, SCHEMA_AT = 8, SIZE_AT = 16 };
    tm_nsys_payload out = {0, -1, -1, -1, -1, -1};
    const unsigned char *p = bytes;
    const field *f = fields->data;
    uint32_t schema;
    uint64_t room;
    if (!p || size < HEADER)
        return out;
    memcpy(&schema, p + SCHEMA_AT, sizeof schema);
    memcpy(&room, p + SIZE_AT, sizeof room);
    if (room > size - HEADER)
        return out;
    for (size_t i = 0; i < fields->n; i++)
        if (f[i].domain == domain && f[i].schema == schema && f[i].offset >= 0 &&
            room >= (uint64_t)f[i].size && (uint64_t)f[i].offset <= room - (uint64_t)f[i].size) {
            int64_t value = integer_at(p + (size - room) + f[i].offset, f[i].size);
            memcpy((char *)&out + f[i].member, &value, sizeof value);
        }
    return out;
}

/* An NCCL kernel, and the call that launched it. */
typedef struct nccl_kernel {
    int64_t correlation;
    uint32_t event, call; /* `call` is TM_NO_EVENT if it is not recorded */
} nccl_kernel;

TM_ORDER_BY(by_correlation, nccl_kernel, correlation, event);

static int by_place(const void *a, const void *b) {
    const tm_nsys_range *x = a, *y = b;
    int order = tm_order_i64(x->track, y->track);
    order = order ? order : tm_order_i64(x->begin_ns, y->begin_ns);
    return order ? order : tm_order_i64(y->end_ns, x->end_ns); /* outer ranges first */
}

static tm_status list_kernels(const tm_trace *trace, const tm_names *names, tm_vec *out,
                              tm_error *err) {
    const tm_kernel_attr *kernels = trace->attrs[TM_ATTR_KERNEL].data;
    const tm_raw_event *events = trace->events.data;
    for (size_t i = 0; i < trace->attrs[TM_ATTR_KERNEL].n; i++) {
        nccl_kernel kernel = {kernels[i].correlation, kernels[i].event, TM_NO_EVENT};
        if (kernel.correlation != 0 &&
            tm_text_begins(tm_names_text(names, events[kernel.event].name), "nccl") &&
            !tm_vec_append(out, &kernel, 1))
            return tm_fail_memory(err);
    }
    tm_vec_sort(out, by_correlation);
    return TM_OK;
}

/* Returns the first kernel with a correlation id. (All kernels of one launch of a graph have the
 * same id.) */
static nccl_kernel *first_of(const tm_vec *kernels, int64_t correlation) {
    nccl_kernel *v = kernels->data;
    size_t i = TM_FIRST_FROM(nccl_kernel, correlation, v, kernels->n, correlation);
    return i < kernels->n && v[i].correlation == correlation ? &v[i] : NULL;
}

static void find_calls(const tm_trace *trace, const tm_vec *kernels) {
    const tm_launch_attr *calls = trace->attrs[TM_ATTR_LAUNCH].data;
    const tm_raw_event *events = trace->events.data;
    for (size_t i = 0; i < trace->attrs[TM_ATTR_LAUNCH].n; i++) {
        nccl_kernel *kernel = first_of(kernels, calls[i].correlation);
        if (kernel && (kernel->call == TM_NO_EVENT ||
                       events[calls[i].event].begin_ns < events[kernel->call].begin_ns))
            kernel->call = calls[i].event;
    }
}

/* Sorts ranges by thread and start, and sets `reach_ns` of each range: the latest end of the range
 * and all earlier ranges of its thread. */
static void order_ranges(tm_vec *ranges) {
    tm_nsys_range *v = ranges->data;
    tm_vec_sort(ranges, by_place);
    for (size_t i = 0; i < ranges->n; i++) {
        v[i].reach_ns = v[i].end_ns;
        if (i > 0 && v[i - 1].track == v[i].track && v[i - 1].reach_ns > v[i].reach_ns)
            v[i].reach_ns = v[i - 1].reach_ns;
    }
}

static bool has_begun(const void *range, const void *key) {
    const tm_nsys_range *x = range, *y = key;
    return x->track < y->track || (x->track == y->track && x->begin_ns <= y->begin_ns);
}

/* Returns the innermost range of a thread that contains a time. */
static const tm_nsys_range *range_at(const tm_vec *ranges, uint32_t track, int64_t time_ns) {
    const tm_nsys_range *v = ranges->data;
    const tm_nsys_range key = {.track = track, .begin_ns = time_ns};
    size_t i = tm_bisect(v, ranges->n, sizeof *v, &key, has_begun);
    while (i-- > 0 && v[i].track == track && v[i].reach_ns >= time_ns)
        if (v[i].end_ns >= time_ns)
            return &v[i];
    return NULL;
}

static uint32_t name_of(tm_names *names, uint64_t communicator) {
    char text[24];
    snprintf(text, sizeof text, "%016" PRIx64, communicator);
    return tm_names_intern_string(names, text);
}

/* Finds the communicator with this id. Adds it if it is new. Returns NULL if out of memory. */
static tm_communicator *find_communicator(tm_trace *trace, tm_names *names, uint64_t id) {
    tm_communicator added = {
        .name = name_of(names, id), .n_ranks = -1, .place = -1, .nccl = tm_nccl_digits(id)};
    tm_communicator *v = trace->communicators.data;
    if (added.name == TM_NAME_FAILED)
        return NULL;
    for (size_t i = 0; i < trace->communicators.n; i++)
        if (v[i].name == added.name)
            return &v[i];
    return tm_vec_append(&trace->communicators, &added, 1);
}

/* Returns whether a call certainly belongs to the unit. Only a call that creates a communicator has
 * a device. If the process has several units, it is therefore not known to which unit any other
 * call belongs. */
static bool is_of_unit(const tm_unit *unit, const tm_nsys_payload *p) {
    uint64_t devices = (uint64_t)unit->devices;
    return devices == UINT64_MAX || (p->device >= 0 && (devices & tm_unit_device(p->device)) != 0);
}

/* Lists every communicator that a call names. This includes calls that cannot be joined to a
 * kernel, because a rank that makes such a call is also a rank of the communicator. If a call may
 * belong to another unit, its communicator is listed later, when a kernel is joined to it. */
static tm_status list_communicators(tm_trace *trace, tm_names *names, const tm_unit *unit,
                                    const tm_vec *ranges, tm_error *err) {
    const tm_nsys_range *v = ranges->data;
    uint64_t last = 0;
    for (size_t i = 0; i < ranges->n; i++) {
        const tm_nsys_payload *p = &v[i].payload;
        bool makes = p->n_ranks > 0 && p->n_ranks <= TM_GROUP_RANKS_MAX;
        if (p->communicator == 0 || (p->communicator == last && !makes) || !is_of_unit(unit, p))
            continue;
        tm_communicator *found = find_communicator(trace, names, p->communicator);
        if (!found)
            return tm_fail_memory(err);
        last = p->communicator;
        if (!makes)
            continue;
        found->n_ranks = (int32_t)p->n_ranks;
        found->place = p->rank >= 0 && p->rank < p->n_ranks ? (int32_t)p->rank : -1;
        /* A job has at least as many ranks as any of its communicators. */
        if (trace->world_size < p->n_ranks)
            trace->world_size = p->n_ranks;
    }
    return TM_OK;
}

/* What one kernel did: one call, or the sends and receives of a group of calls. */
typedef struct operation {
    uint64_t communicator;
    tm_collective_kind kind;
    int64_t sent_bytes, received_bytes, peer;
    int n_calls;
} operation;

/* Adds a call to an operation. Returns false if the call cannot be part of this operation. */
static bool add_call(operation *o, const tm_nsys_range *range, const tm_names *names) {
    tm_text text = tm_names_text(names, range->name);
    tm_collective_kind kind = tm_collective_kind_of_name(text.bytes, text.size);
    bool transfer = tm_collective_is_one_way(kind);
    int64_t bytes = range->payload.bytes;
    if (range->payload.communicator == 0 || bytes < 0 || bytes > INT64_MAX / 64 - o->sent_bytes ||
        bytes > INT64_MAX / 64 - o->received_bytes)
        return false;
    if (o->n_calls++ == 0) {
        o->communicator = range->payload.communicator;
        o->kind = kind;
        o->peer =
            range->payload.peer >= 0 && range->payload.peer <= INT32_MAX ? range->payload.peer : -1;
    } else if (!transfer || o->communicator != range->payload.communicator ||
               !tm_collective_is_transfer(o->kind)) {
        return false;
    } else { /* several peers, or both sends and receives */
        o->kind = TM_COLL_SENDRECV;
        o->peer = -1;
    }
    o->sent_bytes += kind == TM_COLL_RECV ? 0 : bytes;
    o->received_bytes += kind == TM_COLL_SEND ? 0 : bytes;
    return true;
}

/* Collects the calls of a group. Goes back from the end of the group, which launched a kernel, to
 * its start. Returns false for nested groups. Also returns false for several collectives in a
 * group, because it is not known whether they share a kernel. */
static bool collect_group(const tm_vec *ranges, const tm_nsys_range *end, const tm_names *names,
                          operation *o) {
    const tm_nsys_range *first = ranges->data;
    for (const tm_nsys_range *r = end; r-- > first && r->track == end->track;) {
        tm_text text = tm_names_text(names, r->name);
        if (tm_text_begins(text, "ncclGroupStart"))
            return o->n_calls > 0;
        if (tm_text_begins(text, "ncclGroupEnd") ||
            (r->payload.bytes >= 0 && !add_call(o, r, names)))
            return false;
    }
    return false;
}

static tm_status add_row(tm_trace *trace, tm_names *names, const operation *o,
                         const tm_communicator *of, uint32_t event, tm_error *err) {
    /* `bytes` is the size of one rank's part. The input of a reduce-scatter and the output of an
     * all-gather have a part for each rank, so their sizes are not known. */
    bool no_in = o->kind == TM_COLL_RECV || o->kind == TM_COLL_REDUCESCATTER;
    bool no_out = o->kind == TM_COLL_SEND || o->kind == TM_COLL_ALLGATHER;
    tm_collective_attr row = tm_collective_bare(event);
    row.in_elements = no_in ? -1 : o->sent_bytes;
    row.out_elements = no_out ? -1 : o->received_bytes;
    row.group_size = of->n_ranks;
    row.src_rank = o->kind == TM_COLL_RECV ? (int32_t)o->peer : -1;
    row.dst_rank = o->kind == TM_COLL_SEND ? (int32_t)o->peer : -1;
    row.name = tm_names_intern_string(names, tm_collective_word(o->kind));
    row.dtype = tm_names_intern_string(names, "Byte");
    row.group = of->name;
    if (row.name == TM_NAME_FAILED || row.dtype == TM_NAME_FAILED ||
        !tm_vec_append(&trace->attrs[TM_ATTR_COLLECTIVE], &row, 1))
        return tm_fail_memory(err);
    return TM_OK;
}

typedef struct joiner {
    tm_trace *trace;
    tm_names *names;
    const tm_vec *ranges;
} joiner;

static tm_status join_kernel(const joiner *j, const nccl_kernel *kernel, tm_error *err) {
    operation o = {.peer = -1};
    if (kernel->call == TM_NO_EVENT)
        return TM_OK;
    const tm_raw_event *call = (const tm_raw_event *)j->trace->events.data + kernel->call;
    const tm_nsys_range *range = range_at(j->ranges, call->track, call->begin_ns);
    if (!range)
        return TM_OK;
    bool found = range->payload.bytes >= 0 ? add_call(&o, range, j->names)
                                           : collect_group(j->ranges, range, j->names, &o);
    if (!found)
        return TM_OK;
    tm_communicator *of = find_communicator(j->trace, j->names, o.communicator);
    if (!of)
        return tm_fail_memory(err);
    of->used = true;
    return add_row(j->trace, j->names, &o, of, kernel->event, err);
}

tm_status tm_nsys_join_nccl(tm_trace *trace, tm_names *names, const tm_unit *unit, tm_vec *ranges,
                            tm_error *err) {
    const joiner j = {trace, names, ranges};
    tm_vec kernels = TM_VEC(nccl_kernel);
    order_ranges(ranges);
    tm_status status = list_communicators(trace, names, unit, ranges, err);
    if (status == TM_OK)
        status = list_kernels(trace, names, &kernels, err);
    if (status == TM_OK)
        find_calls(trace, &kernels);
    const nccl_kernel *v = kernels.data;
    for (size_t i = 0; i < kernels.n && status == TM_OK; i++)
        status = join_kernel(&j, &v[i], err);
    tm_vec_free(&kernels);
    return status;
}
