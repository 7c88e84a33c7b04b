#include "store_write.h"

#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "outbox.h"
#include "patience.h"
#include "store/pack.h"
#include "store_layout.h"

enum { TAG_PIECE = 1, TAG_CHUNK = 2 };

typedef struct write_job {
    MPI_Comm comm;
    int self;
    const tm_store_plan *plan;
    size_t chunk_rows;
    tm_store_layout layout;
    tm_packer *packer; /* owned */
    char *rows;        /* owned; [a chunk] raw rows */
    char *received;    /* owned; [a packed chunk] pieces of others, or packed on process 0 */
    size_t *pieces;    /* owned; [n_processes] bytes of each one's pieces, then where it is */
    int n_processes;
    tm_store_writer *writer; /* owned; on process 0 */
    tm_mpi_outbox outbox;
    tm_status status; /* of this process; it goes on after a failure, without writing */
    bool discard;     /* another process failed to pack */
    tm_error *err;
} write_job;

/* One column of one table; the walk along its chunks. */
typedef struct column_walk {
    const tm_record_column *column;
    int table;
    size_t n_rows;
    tm_chunk_shape shape;
    size_t slot;        /* the first one that has rows in the chunk */
    int64_t first, end; /* the chunk's rows */
    int owner;          /* the process that packs it: the one that holds its first row */
} column_walk;

static tm_status prepare(write_job *job) {
    size_t raw = job->chunk_rows * sizeof(int64_t); /* no element is longer */
    tm_store_options options = {.tool_version = job->plan->tool_version,
                                .compress = job->plan->compress,
                                .chunk_rows = job->chunk_rows};
    job->packer = tm_packer_create(job->plan->compress);
    job->rows = malloc(raw);
    job->received = malloc(tm_pack_bound(raw));
    job->pieces = malloc((size_t)job->n_processes * sizeof *job->pieces);
    if (!job->packer || !job->rows || !job->received || !job->pieces)
        return tm_fail_memory(job->err);
    if (job->self != 0)
        return TM_OK;
    return tm_store_create(job->plan->path, &options, &job->writer, job->err);
}

static void next_chunk(const write_job *job, column_walk *walk) {
    const tm_store_slot *slots = job->layout.slots;
    int64_t n_rows = (int64_t)walk->n_rows;
    walk->first = walk->end;
    walk->end += (int64_t)walk->shape.chunk_rows;
    walk->end = walk->end < n_rows ? walk->end : n_rows;
    while (slots[walk->slot].base.first[walk->table] + slots[walk->slot].n_rows[walk->table] <=
           walk->first)
        walk->slot++;
    walk->owner = slots[walk->slot].process;
}

/* The rows of one slot that lie in the chunk. */
typedef struct piece {
    size_t from;  /* in the slot */
    size_t place; /* in the chunk */
    size_t n;
} piece;

static piece piece_of(const column_walk *walk, const tm_store_slot *slot) {
    int64_t base = slot->base.first[walk->table];
    int64_t first = base > walk->first ? base : walk->first;
    int64_t end = base + slot->n_rows[walk->table];
    end = end < walk->end ? end : walk->end;
    if (first >= end)
        return (piece){0};
    return (piece){(size_t)(first - base), (size_t)(first - walk->first), (size_t)(end - first)};
}

/* The slot behind the last that has rows in the chunk. */
static size_t end_of_slots(const write_job *job, const column_walk *walk) {
    const tm_store_slot *slots = job->layout.slots;
    size_t i = walk->slot;
    while (i < job->layout.n_slots && slots[i].base.first[walk->table] < walk->end)
        i++;
    return i;
}

/* Fills in the rows that are here: those of an own chunk in their place, those of another's one
 * behind the other, for its owner. Ranks are many and small: all of a chunk go as one message. */
static void give_pieces(write_job *job, const column_walk *walk) {
    size_t element = walk->shape.element_bytes, n = 0, end = end_of_slots(job, walk);
    for (size_t i = walk->slot; i < end; i++) {
        const tm_store_slot *slot = &job->layout.slots[i];
        const piece p = piece_of(walk, slot);
        if (slot->process != job->self || p.n == 0)
            continue;
        walk->column->fill(walk->column, slot->timeline, &slot->base, p.from, p.n,
                           job->rows + (walk->owner == job->self ? p.place : n) * element);
        n += p.n;
    }
    if (n > 0 && walk->owner != job->self)
        tm_mpi_outbox_send(&job->outbox, job->rows, n * element, walk->owner, TAG_PIECE);
}

/* Receives the rows of an own chunk that are elsewhere, and puts them in their place. */
static void take_pieces(write_job *job, const column_walk *walk) {
    const tm_store_slot *slots = job->layout.slots;
    size_t element = walk->shape.element_bytes, end = end_of_slots(job, walk), at = 0;
    memset(job->pieces, 0, (size_t)job->n_processes * sizeof *job->pieces);
    for (size_t i = walk->slot; i < end; i++)
        job->pieces[slots[i].process] += piece_of(walk, &slots[i]).n * element;
    job->pieces[job->self] = 0;
    for (int process = 0; process < job->n_processes; process++) {
        size_t size = job->pieces[process];
        job->pieces[process] = at;
        if (size > 0)
            (void)tm_mpi_receive(job->comm, job->received + at, (int)size, process, TAG_PIECE,
                                 MPI_STATUS_IGNORE);
        at += size;
    }
    for (size_t i = walk->slot; i < end && at > 0; i++) {
        const piece p = piece_of(walk, &slots[i]);
        if (slots[i].process == job->self || p.n == 0)
            continue;
        memcpy(job->rows + p.place * element, job->received + job->pieces[slots[i].process],
               p.n * element);
        job->pieces[slots[i].process] += p.n * element;
    }
}

/* Packs the chunk; no bytes where that failed, which process 0 must be told. */
static const void *pack(write_job *job, const column_walk *walk, size_t *size) {
    const void *packed =
        tm_pack_chunk(job->packer, walk->shape, job->rows, (size_t)(walk->end - walk->first), size);
    if (packed)
        return packed;
    job->status = tm_fail_memory(job->err);
    *size = 0;
    return job->rows;
}

static void put(write_job *job, const void *packed, size_t size) {
    if (size == 0)
        job->discard = true;
    if (!job->discard && job->status == TM_OK)
        job->status = tm_store_put_chunk(job->writer, packed, size, job->err);
}

/* Every process does its part of a chunk in this order, and chunk after chunk: what one waits for
 * is then always sent by a process that is not waiting for a later chunk. */
static void do_chunk(write_job *job, const column_walk *walk) {
    size_t size = 0;
    give_pieces(job, walk);
    if (walk->owner == job->self) {
        take_pieces(job, walk);
        const void *packed = pack(job, walk, &size);
        if (job->self == 0)
            put(job, packed, size);
        else
            tm_mpi_outbox_send(&job->outbox, packed, size, 0, TAG_CHUNK);
    } else if (job->self == 0) {
        MPI_Status received;
        int n = 0;
        size_t room = tm_pack_bound(walk->shape.chunk_rows * walk->shape.element_bytes);
        (void)tm_mpi_receive(job->comm, job->received, (int)room, walk->owner, TAG_CHUNK,
                             &received);
        MPI_Get_count(&received, MPI_BYTE, &n);
        put(job, job->received, (size_t)n);
    }
}

static void do_column(write_job *job, int table, const tm_record_column *column) {
    const char *path = tm_record_tables[table].path;
    size_t n_rows = (size_t)job->layout.n_rows[table];
    column_walk walk = {.column = column,
                        .table = table,
                        .n_rows = n_rows,
                        .shape = {.element_bytes = tm_element_size(column->element),
                                  .chunk_rows = tm_store_chunk_rows(job->chunk_rows, n_rows)}};
    if (job->self == 0 && job->status == TM_OK)
        job->status = tm_store_begin_column(job->writer, path, column, n_rows, job->err);
    while ((size_t)walk.end < n_rows) {
        next_chunk(job, &walk);
        do_chunk(job, &walk);
    }
    if (job->self == 0 && job->status == TM_OK && !job->discard)
        job->status = tm_store_end_column(job->writer, job->err);
}

/* Whether some process failed is asked after each column, but the answer is taken one column
 * later, so that nobody waits for it. */
typedef struct question {
    MPI_Request request;
    int mine, any;
} question;

static bool answered_well(question *asked) {
    (void)tm_mpi_await(&asked->request, MPI_STATUS_IGNORE);
    return asked->any == 0;
}

static void ask(const write_job *job, question *asked) {
    asked->mine = job->status != TM_OK || job->discard;
    MPI_Iallreduce(&asked->mine, &asked->any, 1, MPI_INT, MPI_MAX, job->comm, &asked->request);
}

static void write_records(write_job *job) {
    question asked = {.request = MPI_REQUEST_NULL};
    bool good = true;
    for (int t = 0; good && t < TM_N_RECORDS; t++) {
        const tm_record_table *table = &tm_record_tables[t];
        if (job->self == 0 && job->status == TM_OK)
            job->status = tm_store_put_group(job->writer, table->path, table->doc, job->err);
        for (int i = 0; good && i < table->n_columns; i++) {
            do_column(job, t, &table->columns[i]);
            good = answered_well(&asked);
            if (good)
                ask(job, &asked);
        }
    }
    answered_well(&asked);
    tm_mpi_outbox_drain(&job->outbox);
}

/* Names, results and attributes: process 0 has them all. */
static tm_status write_rest(const write_job *job) {
    const tm_store_plan *plan = job->plan;
    TM_TRY(tm_store_put_names(job->writer, plan->names, job->err));
    for (size_t i = 0; plan->tables && i < plan->tables->n_tables; i++)
        if (!plan->tables->tables[i].def->internal)
            TM_TRY(tm_store_put_table(job->writer, &plan->tables->tables[i], job->err));
    for (size_t i = 0; i < plan->n_attributes; i++)
        TM_TRY(tm_store_put_attribute(job->writer, &plan->attributes[i], job->err));
    return TM_OK;
}

/* Process 0's last part. The file is complete or gone before any process hears of it. */
static void finish(write_job *job, bool good) {
    if (job->self != 0)
        return;
    if (good)
        job->status = write_rest(job);
    if (good && job->status == TM_OK)
        job->status = tm_store_commit(job->writer, job->err);
    else
        tm_store_abandon(job->writer);
    job->writer = NULL;
}

static tm_status write_store(write_job *job) {
    TM_TRY(tm_mpi_store_layout(job->comm, job->plan->timelines, job->plan->n_timelines,
                               &job->layout, job->err));
    job->status = prepare(job);
    tm_status all = tm_mpi_agree(job->comm, job->status, job->err);
    if (all == TM_OK) {
        write_records(job);
        all = tm_mpi_agree(job->comm, job->status, job->err);
    }
    finish(job, all == TM_OK);
    return tm_mpi_agree(job->comm, all == TM_OK ? job->status : all, job->err);
}

tm_status tm_mpi_store_write(MPI_Comm comm, const tm_store_plan *plan, tm_error *err) {
    tm_error unused = {0};
    write_job job = {.comm = comm,
                     .plan = plan,
                     .chunk_rows = plan->chunk_rows ? plan->chunk_rows : TM_STORE_CHUNK_ROWS,
                     .outbox = {.comm = comm},
                     .err = err ? err : &unused};
    MPI_Comm_rank(comm, &job.self);
    MPI_Comm_size(comm, &job.n_processes);
    tm_status status = write_store(&job);
    tm_packer_destroy(job.packer);
    tm_store_layout_free(&job.layout);
    free(job.rows);
    free(job.received);
    free(job.pieces);
    return status;
}
