#include "nsys_mpi.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "nsys_mpi_names.h"
#include "nsys_mpi_work.h"
#include "nsys_units.h"
#include "timeline/host_comm.h"

enum { NONE = -1 };

/* A row of an MPI table. A missing field is NONE; a missing handle is 0. */
typedef struct mpi_row {
    int64_t start, end, thread;
    int64_t comm, request;
    int64_t tag, peer, size, received;
    int64_t seq;  /* number of a collective on its communicator */
    size_t place; /* row index */
    uint32_t name;
    uint32_t event; /* the event of the call */
} mpi_row;

/* An active request, or a persistent request that was not freed. */
typedef struct request {
    mpi_row row;
    size_t next;  /* 1 + index of the next request in its bucket */
    int slot;     /* number of the track on which the request is while it is active */
    bool is_made; /* a persistent request, created by MPI_Send_init or the like */
    bool is_done;
} request;

enum { N_BUCKETS = 1 << 12, N_SLOTS = 64 };

typedef struct mpi {
    tm_nsys_emitter *e;
    tm_vec comms;    /* vector of tm_mpi_comm */
    tm_vec requests; /* vector of request */
    /* 1 + index of the first request and of the last request in each bucket; 0 if the bucket is
     * empty */
    size_t first[N_BUCKETS], last[N_BUCKETS];
    int used[N_SLOTS]; /* number of active requests on each track; the last track takes all requests
                          that find no free track */
    bool of_cpu;       /* the rank has no GPU, so its communication counts as device work */
    bool has_comms;
    bool from_start; /* The recording includes MPI_Init, and so all MPI calls after it. */
} mpi;

static tm_status keep(tm_nsys_emitter *e, mpi_row *row, tm_error *err) {
    e->mpi_rows.size = sizeof *row;
    row->place = e->mpi_rows.n;
    return tm_vec_append(&e->mpi_rows, row, 1) ? TM_OK : tm_fail_memory(err);
}

tm_status tm_nsys_mpi_row(tm_nsys_emitter *e, sqlite3_value **values, tm_error *err) {
    enum { NAME = TM_NSYS_REST, COMM, TAG, PEER, SIZE, RECEIVED, REQUEST };
    mpi_row row = {.start = tm_db_int(values, TM_NSYS_START, INT64_MIN),
                   .end = tm_db_int(values, TM_NSYS_END, INT64_MIN),
                   .thread = tm_db_int(values, TM_NSYS_AT, 0),
                   .comm = tm_db_int(values, COMM, 0),
                   .request = tm_db_int(values, REQUEST, 0),
                   .tag = tm_db_int(values, TAG, NONE),
                   .peer = tm_db_int(values, PEER, NONE),
                   .size = tm_db_int(values, SIZE, NONE),
                   .received = tm_db_int(values, RECEIVED, NONE)};
    TM_TRY(tm_nsys_string(e, tm_db_int(values, NAME, -1), false, &row.name, err));
    return keep(e, &row, err);
}

tm_status tm_nsys_mpi_range(tm_nsys_emitter *e, sqlite3_value **values, uint32_t name,
                            tm_error *err) {
    mpi_row row = {.start = tm_db_int(values, TM_NSYS_START, INT64_MIN),
                   .end = tm_db_int(values, TM_NSYS_END, INT64_MIN),
                   .thread = tm_db_int(values, TM_NSYS_AT, 0),
                   .tag = NONE,
                   .peer = NONE,
                   .size = NONE,
                   .received = NONE,
                   .name = name};
    return keep(e, &row, err);
}

TM_ORDER_BY(by_call, mpi_row, start, thread, name, place);

static uint32_t track_of(tm_nsys_emitter *e, int64_t thread) {
    return tm_nsys_track_of(e, TM_TRACK_CPU, tm_nsys_pid(thread), thread & 0xFFFFFF);
}

/* Transfers that overlap go to separate tracks, so that on each track they run in sequence. */
static uint32_t track_of_slot(tm_nsys_emitter *e, int64_t thread, int slot) {
    char process[24], text[64];
    snprintf(process, sizeof process, "%" PRId64, tm_nsys_pid(thread));
    snprintf(text, sizeof text, "%" PRId64 " MPI request %d", thread & 0xFFFFFF, slot);
    const uint32_t pid = tm_names_intern_string(e->names, process),
                   tid = tm_names_intern_string(e->names, text);
    return pid == TM_NAME_FAILED || tid == TM_NAME_FAILED
               ? UINT32_MAX
               : tm_trace_track(e->trace, TM_TRACK_CPU, pid, tid);
}

/* Returns the size of a piece [bytes] if @p bytes are divided into n pieces; NONE if unknown. */
static int64_t piece(int64_t bytes, int32_t n) {
    return bytes >= 0 && n > 0 ? bytes / n : NONE;
}

/* Sets the number of bytes of one rank. Nsight adds up the bytes to and from all ranks. So data
 * that a rank sends to n ranks, or that n ranks reduce, is counted n times in the row. */
static void set_bytes(const mpi_row *row, const tm_mpi_function *f, int32_t n,
                      tm_collective_attr *attr) {
    switch (f->kind) {
    case TM_COLL_ALLREDUCE:
        attr->in_elements = attr->out_elements = piece(row->size, n);
        break;
    case TM_COLL_BROADCAST:
        attr->in_elements = attr->out_elements =
            row->received >= 0 ? row->received : piece(row->size, n);
        break;
    case TM_COLL_ALLGATHER: /* the output has n pieces */
        attr->in_elements = piece(row->received, n);
        break;
    case TM_COLL_REDUCESCATTER: /* the input has n pieces */
        attr->out_elements = piece(row->size, n);
        break;
    case TM_COLL_SCATTER:
        attr->in_elements = attr->out_elements = f->varies ? NONE : row->received;
        break;
    case TM_COLL_GATHER:
    case TM_COLL_REDUCE:
        attr->in_elements = f->varies ? NONE : row->size;
        break;
    case TM_COLL_ALLTOALL:
        attr->in_elements = row->size;
        attr->out_elements = row->received;
        break;
    case TM_COLL_SEND:
        attr->in_elements = row->size;
        break;
    default: /* a receive only has the size of its buffer; the sender has the size of the message */
        break;
    }
}

static void set_peer(const mpi_row *row, uint8_t kind, tm_collective_attr *attr) {
    const int32_t peer = row->peer >= 0 && row->peer <= INT32_MAX ? (int32_t)row->peer : -1;
    if (kind == TM_COLL_SEND)
        attr->dst_rank = peer;
    else
        attr->src_rank = peer;
    /* messages with one tag arrive in the order in which they were sent */
    attr->seq = TM_SEQ_REPEATED;
    attr->comms_id = row->tag + 2;
}

/* Adds a row of TM_ATTR_COLLECTIVE to an event. If the export lists no communicators (2022.4), the
 * row has only the kind. Adds no row if the communicator has one rank. Also adds none if the listed
 * communicators do not include it: it is then MPI_COMM_SELF or unknown. */
static tm_status communicate(mpi *m, const mpi_row *row, tm_mpi_function f, uint32_t event,
                             tm_error *err) {
    tm_nsys_emitter *e = m->e;
    tm_mpi_comm *comm = row->comm != 0 ? tm_mpi_comm_find(&m->comms, row->comm, row->start) : NULL;
    tm_collective_attr attr = tm_collective_bare(event);
    if (event == TM_NO_EVENT || !m->of_cpu || (!comm && m->has_comms) ||
        (comm && comm->n_ranks == 1))
        return TM_OK;
    attr.kind = f.kind;
    attr.name = tm_names_intern_string(e->names, tm_collective_word((tm_collective_kind)f.kind));
    attr.dtype = tm_names_intern_string(e->names, "Byte");
    if (comm) {
        comm->used = true;
        attr.group = comm->name;
        attr.group_size = comm->n_ranks;
        set_bytes(row, &f, comm->n_ranks, &attr);
    } else { /* the group is unknown */
        attr.group_ranks = tm_names_intern_string(e->names, "?");
    }
    attr.seq = row->seq;
    if (tm_collective_is_one_way(f.kind))
        set_peer(row, f.kind, &attr);
    return attr.name != TM_NAME_FAILED && attr.dtype != TM_NAME_FAILED &&
                   tm_vec_append(&e->trace->attrs[TM_ATTR_COLLECTIVE], &attr, 1)
               ? TM_OK
               : tm_fail_memory(err);
}

/* Adds an event for a transfer or collective, in addition to the calls that start and end it. */
static tm_status add_whole(mpi *m, const mpi_row *row, tm_mpi_function f, int slot, int64_t end,
                           tm_error *err) {
    tm_raw_event whole = {
        .name = row->name, .kind = TM_DURATION, .category = TM_CAT_COLLECTIVE_COMM};
    uint32_t event;
    if (!m->has_comms)
        return TM_OK;
    whole.track = track_of_slot(m->e, row->thread, slot);
    TM_TRY(tm_nsys_add_at(m->e, row->start, end, whole, &event, err));
    const tm_handover asked = {.call = event, .by = row->event};
    if (event != TM_NO_EVENT && !tm_vec_append(&m->e->trace->handovers, &asked, 1))
        return tm_fail_memory(err);
    return communicate(m, row, f, event, err);
}

static size_t bucket_of(int64_t handle) {
    return (size_t)((uint64_t)handle * 0x9E3779B97F4A7C15u >> 52);
}

static tm_status begin_request(mpi *m, const mpi_row *row, bool is_made, tm_error *err) {
    const size_t bucket = bucket_of(row->request);
    request added = {.row = *row, .is_made = is_made};
    while (added.slot < N_SLOTS - 1 && m->used[added.slot] > 0)
        added.slot++;
    m->used[added.slot] += !is_made;
    if (!tm_vec_append(&m->requests, &added, 1))
        return tm_fail_memory(err);
    request *v = m->requests.data;
    if (m->last[bucket])
        v[m->last[bucket] - 1].next = m->requests.n;
    else
        m->first[bucket] = m->requests.n;
    m->last[bucket] = m->requests.n;
    return TM_OK;
}

/* Finds a request by its handle. Of several active requests, returns the oldest. Of several
 * persistent requests (@p is_made), returns the newest, because the others were freed. Returns NULL
 * if there is none. (Requests that MPI completed immediately may have the same handle.) Also
 * removes finished requests from the start of the bucket. */
static request *find_request(mpi *m, int64_t handle, bool is_made) {
    const size_t bucket = bucket_of(handle);
    request *v = m->requests.data, *found = NULL;
    while (m->first[bucket] && v[m->first[bucket] - 1].is_done)
        m->first[bucket] = v[m->first[bucket] - 1].next;
    if (!m->first[bucket])
        m->last[bucket] = 0;
    for (size_t i = m->first[bucket]; i != 0; i = v[i - 1].next)
        if (v[i - 1].row.request == handle && !v[i - 1].is_done && v[i - 1].is_made == is_made) {
            found = &v[i - 1];
            if (!is_made)
                break;
        }
    return found;
}

static tm_status start_request(mpi *m, const mpi_row *row, tm_error *err) {
    const request *made = find_request(m, row->request, true);
    if (!made)
        return TM_OK;
    mpi_row started = made->row;
    started.start = row->start;
    started.end = row->end;
    started.thread = row->thread;
    started.event = row->event;
    return begin_request(m, &started, false, err);
}

static tm_status end_request(mpi *m, request *r, int64_t end, tm_error *err) {
    const mpi_row row = r->row;
    const int slot = r->slot;
    r->is_done = true;
    m->used[slot]--;
    return add_whole(m, &row, tm_mpi_function_of(tm_names_text(m->e->names, row.name)), slot, end,
                     err);
}

static tm_status take_request(mpi *m, const mpi_row *row, const tm_mpi_function *f, tm_error *err) {
    if (f->moves)
        return begin_request(m, row, f->is_made, err);
    if (f->is_start)
        return start_request(m, row, err);
    request *ended = find_request(m, row->request, false);
    return ended ? end_request(m, ended, row->end, err) : TM_OK;
}

/* Adds both halves of MPI_Sendrecv. The row of the send comes first and has no duration. */
static tm_status add_halves(mpi *m, const mpi_row *rows, size_t n, int64_t end, tm_error *err) {
    for (size_t i = 0; i < n && i < 2; i++) {
        tm_mpi_function half = {.kind = i == 0 ? TM_COLL_SEND : TM_COLL_RECV};
        if (rows[i].peer >= 0)
            TM_TRY(add_whole(m, &rows[i], half, N_SLOTS + (int)i, end, err));
    }
    return TM_OK;
}

/* Numbers the collectives of a communicator: all ranks call them in the same order. */
static void number(mpi *m, mpi_row *row, const tm_mpi_function *f) {
    const bool pair = tm_collective_is_transfer(f->kind);
    tm_mpi_comm *comm = f->moves && !pair && m->from_start
                            ? tm_mpi_comm_find(&m->comms, row->comm, row->start)
                            : NULL;
    row->seq = comm ? comm->n_calls++ : NONE;
}

static tm_status take_call(mpi *m, mpi_row *rows, size_t n, tm_error *err) {
    const tm_mpi_function f = tm_mpi_function_of(tm_names_text(m->e->names, rows->name));
    int64_t end = rows->end;
    uint32_t event;
    for (size_t i = 1; i < n; i++)
        end = rows[i].end > end ? rows[i].end : end;
    const tm_raw_event call = {.name = rows->name,
                               .kind = TM_DURATION,
                               .category = TM_CAT_MPI,
                               .track = track_of(m->e, rows->thread)};
    TM_TRY(tm_nsys_add_at(m->e, rows->start, end, call, &event, err));
    if (event == TM_NO_EVENT || !m->of_cpu)
        return TM_OK;
    number(m, rows, &f);
    for (size_t i = 0; i < n; i++)
        rows[i].event = event;
    if (f.kind == TM_COLL_SENDRECV)
        return add_halves(m, rows, n, end, err);
    if (f.moves && !f.is_begun && !f.is_made)
        return communicate(m, rows, f, event, err);
    for (size_t i = 0; i < n; i++)
        if (rows[i].request != 0)
            TM_TRY(take_request(m, &rows[i], &f, err));
    return TM_OK;
}

/* Ends the requests for which no call waited. Such a request ends with the call that started it. */
static tm_status end_others(mpi *m, tm_error *err) {
    for (size_t i = 0; i < m->requests.n; i++) {
        request *r = (request *)m->requests.data + i;
        if (!r->is_done && !r->is_made)
            TM_TRY(end_request(m, r, r->row.end, err));
    }
    return TM_OK;
}

static tm_status take_calls(mpi *m, tm_error *err) {
    const tm_vec *rows = &m->e->mpi_rows;
    mpi_row *v = rows->data;
    for (size_t i = 0; i < rows->n && !m->from_start; i++)
        m->from_start = strncmp(tm_names_text(m->e->names, v[i].name).bytes, "MPI_Init", 8) == 0;
    for (size_t first = 0, i = 0; first < rows->n; first = i) {
        for (i = first + 1; i < rows->n && v[i].start != INT64_MIN &&
                            v[i].thread == v[first].thread && v[i].start == v[first].start &&
                            v[i].name == v[first].name;)
            i++;
        TM_TRY(take_call(m, &v[first], i - first, err));
    }
    return end_others(m, err);
}

static tm_status list_comms(const mpi *m, tm_error *err) {
    tm_trace *trace = m->e->trace;
    const tm_mpi_comm *v = m->comms.data;
    for (size_t i = 0; i < m->comms.n && m->of_cpu; i++) {
        const tm_communicator added = {
            .name = v[i].name, .n_ranks = v[i].n_ranks, .place = v[i].place, .used = v[i].used};
        if (v[i].n_ranks < 2)
            continue;
        if (!tm_vec_append(&trace->communicators, &added, 1))
            return tm_fail_memory(err);
        /* A job has at least as many ranks as any of its communicators. */
        if (trace->world_size < v[i].n_ranks)
            trace->world_size = v[i].n_ranks;
    }
    return TM_OK;
}

/* Adds the device kind to the metadata, a JSON object. */
static tm_status say_cpu(tm_nsys_emitter *e, tm_error *err) {
    static const char kind[] = "," TM_DEVICE_KIND TM_CPU_KIND "\"}";
    const tm_text text = tm_names_text(e->names, e->trace->metadata);
    e->scratch.n = 0;
    if (!tm_vec_append(&e->scratch, text.bytes, text.size - 1) ||
        !tm_vec_append(&e->scratch, kind, sizeof kind - 1))
        return tm_fail_memory(err);
    e->trace->metadata = tm_names_intern(e->names, e->scratch.data, e->scratch.n);
    return e->trace->metadata == TM_NAME_FAILED ? tm_fail_memory(err) : TM_OK;
}

static tm_status add_all(mpi *m, tm_error *err) {
    TM_TRY(tm_mpi_comms_read(m->e, &m->comms, &m->has_comms, err));
    TM_TRY(take_calls(m, err));
    TM_TRY(list_comms(m, err));
    if (!m->of_cpu)
        return TM_OK;
    TM_TRY(tm_nsys_add_work(m->e, err));
    return say_cpu(m->e, err);
}

tm_status tm_nsys_add_mpi(tm_nsys_emitter *e, tm_error *err) {
    if (e->mpi_rows.n == 0)
        return TM_OK;
    mpi *m = calloc(1, sizeof *m);
    if (!m)
        return tm_fail_memory(err);
    m->e = e;
    m->comms = TM_VEC(tm_mpi_comm);
    m->requests = TM_VEC(request);
    m->of_cpu = e->unit->devices == 0;
    tm_sort(e->mpi_rows.data, e->mpi_rows.n, sizeof(mpi_row), by_call);
    tm_status status = add_all(m, err);
    tm_vec_free(&m->comms);
    tm_vec_free(&m->requests);
    free(m);
    return status;
}
