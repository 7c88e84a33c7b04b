#include "trace_parts.h"

#include <stdlib.h>

#include "mpi/exchange/agree.h"
#include "mpi/exchange/bytes.h"
#include "tmerge/reader.h"

enum { TAG_PARTS = 14, PIECE_BYTES = 4 << 20 };

/* Indices of the tables of a trace: first a table for each kind of attribute, then the table of
 * events. */
enum { EVENTS = TM_N_ATTRS, N_TABLES };

/* What a process reports about a part that it read; all processes get it. Contains only numbers. On
 * processes that did not read the part, all numbers are 0, so that a sum over the processes gives
 * the report to all of them. */
typedef struct reported {
    int64_t read;
    int64_t begin, end, in_object;
    int64_t n_rows[N_TABLES];
} reported;

enum { REPORTED_NUMBERS = sizeof(reported) / sizeof(int64_t) };

typedef struct joiner {
    MPI_Comm comm;
    int self;
    tm_mpi_part *parts; /* [n] */
    size_t n;
    reported *reported; /* [n] */
    tm_names *names;
} joiner;

static tm_vec *table_of(tm_trace *trace, int table) {
    return table == EVENTS ? &trace->events : &trace->attrs[table];
}

void tm_mpi_part_init(tm_mpi_part *part, size_t input, int index, int n) {
    *part = (tm_mpi_part){.input = input};
    tm_part_init(&part->part, NULL);
    part->part.index = index;
    part->part.n = n;
}

void tm_mpi_part_free(tm_mpi_part *part) {
    if (part->part.trace)
        tm_trace_free(part->part.trace);
    free(part->part.trace);
    part->part.trace = NULL;
    tm_part_free(&part->part);
    tm_names_destroy(part->names);
    part->names = NULL;
}

tm_status tm_mpi_part_read(tm_mpi_part *part, const tm_trace_file *file, tm_names *names,
                           const tm_source_watch *watch, tm_error *err) {
    bool first = part->part.index == 0;
    part->part.trace = malloc(sizeof *part->part.trace);
    part->names = first ? NULL : tm_names_create();
    if (part->part.trace)
        tm_trace_init(part->part.trace);
    if (!part->part.trace || (!first && !part->names))
        return tm_fail_memory(err);
    tm_status status = tm_part_read(file, first ? names : part->names, watch, &part->part, err);
    part->read = status == TM_OK;
    if (!part->read)
        tm_mpi_part_free(part);
    return status == TM_ERR_INPUT ? TM_OK : status;
}

static tm_status tell(joiner *j, tm_error *err) {
    for (size_t k = 0; k < j->n; k++) {
        const tm_part *part = &j->parts[k].part;
        if (j->parts[k].reader != j->self || !j->parts[k].read)
            continue;
        j->reported[k] = (reported){
            .read = 1, .begin = part->begin, .end = part->end, .in_object = part->in_object};
        for (int t = 0; t < N_TABLES; t++)
            j->reported[k].n_rows[t] = (int64_t)table_of(part->trace, t)->n;
    }
    if (MPI_Allreduce(MPI_IN_PLACE, j->reported, (int)j->n * REPORTED_NUMBERS, MPI_INT64_T, MPI_SUM,
                      j->comm) != MPI_SUCCESS)
        return tm_fail(err, TM_ERR_FAULT, NULL, -1, "MPI_Allreduce failed");
    for (size_t k = 0; k < j->n; k++) {
        j->parts[k].part.begin = j->reported[k].begin;
        j->parts[k].part.end = j->reported[k].end;
        j->parts[k].part.in_object = j->reported[k].in_object != 0;
    }
    return TM_OK;
}

/* Decides whether the parts of a trace are joined; @p first is the index of its first part. All
 * processes decide the same. */
static void decide(joiner *j, size_t first) {
    tm_mpi_part *parts = &j->parts[first];
    size_t n = (size_t)parts->part.n;
    bool fits = j->reported[first].read != 0;
    for (size_t k = 1; k < n; k++)
        fits = fits && j->reported[first + k].read &&
               tm_part_follows(&parts->part, &parts[k - 1].part, &parts[k].part);
    for (size_t k = 0; k < n; k++) {
        parts[k].joined = fits;
        if (!fits)
            tm_mpi_part_free(&parts[k]);
    }
}

/* Reserves memory for all rows of a trace, because growing the columns would need twice their
 * memory. */
static tm_status make_room(joiner *j, size_t first, tm_error *err) {
    tm_trace *trace = j->parts[first].part.trace;
    for (int t = 0; t < N_TABLES; t++) {
        size_t n = 0;
        for (size_t k = first; k < first + (size_t)j->parts[first].part.n; k++)
            n += (size_t)j->reported[k].n_rows[t];
        if (!tm_vec_reserve(table_of(trace, t), n))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

static tm_status join_rows(tm_part_join *join, int table, const void *rows, size_t n,
                           tm_error *err) {
    return table == EVENTS ? tm_join_events(&join->rows, rows, n, err)
                           : tm_join_attrs(&join->rows, (tm_attr)table, rows, n, err);
}

static tm_status join_own(joiner *j, tm_part *into, tm_mpi_part *from, tm_error *err) {
    tm_vec head = TM_VEC(char);
    tm_part_join join = {0};
    tm_status status = tm_part_pack(&from->part, from->names, &head, err);
    if (status == TM_OK)
        status = tm_part_join_begin(&join, into, j->names, head.data, err);
    for (int t = 0; t < N_TABLES && status == TM_OK; t++) {
        tm_vec *rows = table_of(from->part.trace, t);
        status = join_rows(&join, t, rows->data, rows->n, err);
        tm_vec_free(rows);
    }
    tm_part_join_end(&join);
    tm_vec_free(&head);
    return status;
}

/* Sends a part. When out of memory, sends an empty header: the receiver waits for a message. */
static tm_status send_part(joiner *j, tm_mpi_part *from, int to, tm_error *err) {
    tm_vec head = TM_VEC(char);
    tm_status status = tm_part_pack(&from->part, from->names, &head, err);
    tm_status sent = tm_mpi_send_bytes(j->comm, to, TAG_PARTS, head.data,
                                       status == TM_OK ? head.n : 0, status == TM_OK ? err : NULL);
    tm_vec_free(&head);
    for (int t = 0; t < N_TABLES; t++) {
        tm_vec *rows = table_of(from->part.trace, t);
        size_t step = PIECE_BYTES / rows->size;
        for (size_t done = 0; done < rows->n && sent == TM_OK; done += step) {
            size_t n = rows->n - done < step ? rows->n - done : step;
            sent = tm_mpi_send_bytes(j->comm, to, TAG_PARTS, (char *)rows->data + done * rows->size,
                                     n * rows->size, status == TM_OK ? err : NULL);
        }
        tm_vec_free(rows);
    }
    return status == TM_OK ? sent : status;
}

/* Receives rows and joins them. After a failure, receives and drops the remaining rows: the sender
 * waits. */
static tm_status receive_rows(joiner *j, tm_part_join *join, int table, int from, tm_error *err) {
    void *bytes = NULL;
    size_t size = 0;
    tm_status status = tm_mpi_receive_bytes(j->comm, from, TAG_PARTS, &bytes, &size, err);
    if (status == TM_OK && join->name_of)
        status = join_rows(join, table, bytes, size / table_of(join->rows.into, table)->size, err);
    free(bytes);
    return status;
}

static tm_status receive_part(joiner *j, tm_part *into, size_t k, tm_error *err) {
    void *head = NULL;
    size_t size = 0;
    int from = j->parts[k].reader;
    tm_part_join join = {0};
    tm_status status = tm_mpi_receive_bytes(j->comm, from, TAG_PARTS, &head, &size, err);
    if (status == TM_OK)
        status =
            size > 0 ? tm_part_join_begin(&join, into, j->names, head, err) : tm_fail_memory(err);
    free(head);
    if (status != TM_OK)
        tm_part_join_end(&join);
    for (int t = 0; t < N_TABLES; t++) {
        int64_t step = PIECE_BYTES / (int64_t)table_of(into->trace, t)->size;
        for (int64_t done = 0; done < j->reported[k].n_rows[t]; done += step) {
            tm_status got = receive_rows(j, &join, t, from, status == TM_OK ? err : NULL);
            if (got != TM_OK)
                tm_part_join_end(&join);
            status = status == TM_OK ? got : status;
        }
    }
    tm_part_join_end(&join);
    return status;
}

/* Joins the parts of one trace. All processes go through traces and parts in the same order, even
 * after a failure, so that every message is received. */
static tm_status bring_together(joiner *j, size_t first, tm_error *err) {
    tm_status status = TM_OK;
    tm_mpi_part *into = &j->parts[first];
    for (size_t k = first + 1; k < first + (size_t)into->part.n; k++) {
        tm_mpi_part *from = &j->parts[k];
        tm_error *report = status == TM_OK ? err : NULL;
        tm_status moved = TM_OK;
        if (into->reader == j->self && from->reader == j->self)
            moved = join_own(j, &into->part, from, report);
        else if (from->reader == j->self)
            moved = send_part(j, from, into->reader, report);
        else if (into->reader == j->self)
            moved = receive_part(j, &into->part, k, report);
        tm_mpi_part_free(from);
        status = status == TM_OK ? moved : status;
    }
    return status;
}

static tm_status join_all(joiner *j, tm_trace **traces, tm_error *err) {
    tm_status status = TM_OK;
    for (size_t k = 0; k < j->n; k += (size_t)j->parts[k].part.n) {
        decide(j, k);
        if (j->parts[k].joined && j->parts[k].reader == j->self && status == TM_OK)
            status = make_room(j, k, err);
    }
    TM_TRY(tm_mpi_agree(j->comm, status, err));
    for (size_t k = 0; k < j->n; k += (size_t)j->parts[k].part.n) {
        if (!j->parts[k].joined)
            continue;
        tm_status moved = bring_together(j, k, status == TM_OK ? err : NULL);
        status = status == TM_OK ? moved : status;
        if (j->parts[k].reader != j->self || status != TM_OK)
            continue;
        status = tm_parts_finish(&j->parts[k].part, j->names, err);
        traces[j->parts[k].input] = j->parts[k].part.trace;
        j->parts[k].part.trace = NULL;
        tm_mpi_part_free(&j->parts[k]);
    }
    return tm_mpi_agree(j->comm, status, err);
}

tm_status tm_mpi_parts_join(MPI_Comm comm, tm_mpi_part *parts, size_t n, tm_names *names,
                            tm_trace **traces, tm_error *err) {
    joiner j = {.comm = comm, .parts = parts, .n = n, .names = names};
    MPI_Comm_rank(comm, &j.self);
    j.reported = calloc(n + 1, sizeof *j.reported);
    tm_status status = tm_mpi_agree(comm, j.reported ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = tm_mpi_agree(comm, tell(&j, err), err);
    if (status == TM_OK)
        status = join_all(&j, traces, err);
    free(j.reported);
    return status;
}
