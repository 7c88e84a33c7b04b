#include "store_write.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/exchange/agree.h"
#include "mpi/exchange/backoff.h"
#include "store/chunk_pack.h"
#include "store/fill.h"
#include "store_chunks.h"
#include "store_layout.h"
#include "timeline/packed_events.h"

/* Number of chunks in a group: for each process, and at most. For each group, processes exchange
 * the rows to pack, pack their chunks, and send them to process 0 in one message. With groups of
 * one chunk, they would wait after every chunk. */
enum { CHUNKS_EACH = 8, GROUP_CHUNKS = 64 };

/* The chunks of a group that one process packed, as sent to process 0: their sizes (0 for a chunk
 * that could not be packed), then the chunks. */
typedef struct parcel {
    size_t n;     /* number of chunks */
    size_t bound; /* maximum size [B] */
    /* Offset of the parcel in write_job.packed. It is 0 on all processes except process 0, because
     * they have only their own parcel. */

    size_t at;
    size_t taken, taken_bytes;
} parcel;

typedef struct write_job {
    MPI_Comm comm;
    int self, n_processes;
    const tm_store_plan *plan;
    size_t chunk_rows, group_bytes;
    tm_store_layout layout;
    tm_packer *packer; /* owned */
    char *rows;        /* owned; [one chunk] raw rows */
    /* owned; [group_bytes] rows to send to the processes that pack them, and received rows of this
     * process's chunks. Unused with a single process */
    char *given, *received;
    int *counts;     /* owned; [4][n_processes] bytes and offsets of the exchange of rows */
    parcel *parcels; /* owned; [n_processes] */
    char *packed;    /* owned; process 0: the parcels of all processes; others: their own parcel */
    size_t *load;    /* owned; [n_processes] */
    tm_vec chunks;   /* vector of tm_store_chunk: the current group */
    tm_store_walk walk;
    tm_store_writer *writer; /* owned; only on process 0 */
    size_t open;             /* offset in tm_timeline of the array that was opened last */
    size_t n_open;           /* number of open arrays */
    int table, column; /* position of the writer; column -1: before the first column of the table */
    /* Status of this process. After a failure, the process writes nothing, but still sends and
     * receives messages. */
    tm_status status;
    bool discard; /* another process failed to pack */
    tm_error *err;
} write_job;

/* Returns the maximum size [B] of a group's packed chunks, together with the list of sizes. */
static size_t packed_bound(const write_job *job) {
    return tm_pack_bound(job->group_bytes) + job->chunks.cap * (tm_pack_bound(0) + sizeof(size_t));
}

/* Returns the size [B] of a group before packing; at most the size of the store. A group is a
 * single chunk if there is only one process, because this process waits for no other. It is also a
 * single chunk if chunks are long, because MPI counts bytes as int. */
static size_t group_bytes(const write_job *job) {
    bool one = job->n_processes == 1 || job->chunk_rows > TM_STORE_CHUNK_ROWS;
    size_t n = one ? 1 : (size_t)job->n_processes * CHUNKS_EACH;
    size_t most = job->chunk_rows * sizeof(int64_t) * (n < GROUP_CHUNKS ? n : GROUP_CHUNKS);
    size_t all = tm_store_all_bytes(&job->layout, job->chunk_rows);
    return all < most ? all : most;
}

static tm_status make_room(write_job *job) {
    job->group_bytes = group_bytes(job);
    size_t n = (size_t)job->n_processes, others = n > 1 ? job->group_bytes + 1 : 1;
    size_t raw = job->chunk_rows * sizeof(int64_t); /* an element has at most 8 bytes */
    job->walk = (tm_store_walk){
        .layout = &job->layout, .chunk_rows = job->chunk_rows, .most_bytes = job->group_bytes};
    job->packer = tm_packer_create(job->plan->compress);
    job->rows = malloc(raw);
    job->given = malloc(others);
    job->received = malloc(others);
    job->counts = malloc(4 * n * sizeof *job->counts);
    job->parcels = malloc(n * sizeof *job->parcels);
    job->load = malloc(n * sizeof *job->load);
    bool done = tm_store_chunks_reserve(&job->walk, &job->chunks);
    job->packed = done ? malloc(packed_bound(job)) : NULL;
    done = job->packed && job->packer && job->rows && job->given && job->received && job->counts &&
           job->parcels && job->load;
    return done ? TM_OK : tm_fail_memory(job->err);
}

static void free_room(write_job *job) {
    tm_packer_destroy(job->packer);
    free(job->rows);
    free(job->given);
    free(job->received);
    free(job->counts);
    free(job->parcels);
    free(job->load);
    free(job->packed);
    tm_vec_free(&job->chunks);
}

static tm_status prepare(write_job *job) {
    tm_store_options options = {.tool_version = job->plan->tool_version,
                                .compress = job->plan->compress,
                                .chunk_rows = job->chunk_rows};
    TM_TRY(make_room(job));
    if (job->self != 0)
        return TM_OK;
    return tm_store_create(job->plan->path, &options, &job->writer, job->err);
}

static const tm_record_column *column_of(const tm_store_chunk *chunk) {
    return &tm_record_tables[chunk->table].columns[chunk->column];
}

/* Returns the offset in tm_timeline of the array that has the order of a column's rows. Launch
 * shapes have the order of their kernels. */
static size_t array_of(const tm_record_column *column) {
    return column->fill == tm_fill_shape
               ? offsetof(tm_timeline, attrs) + TM_ATTR_KERNEL * sizeof(void *)
               : column->array_at;
}

/* Opens the arrays that a group of chunks needs, and closes those of earlier columns. A group often
 * begins within the last column of the group before it. */
static void open_arrays(write_job *job) {
    const tm_store_chunk *chunks = job->chunks.data;
    for (size_t i = 0; i < job->chunks.n; i++) {
        const size_t array = array_of(column_of(&chunks[i]));
        if (array == job->open && (i > 0 || job->n_open == 1))
            continue;
        for (size_t k = 0; k < job->plan->n_timelines; k++) {
            tm_timeline *timeline = job->plan->timelines[k];
            if (i == 0)
                tm_timeline_close_others(timeline, array);
            if (job->status == TM_OK)
                job->status = tm_timeline_open_array(timeline, array, job->err);
        }
        job->open = array;
        job->n_open = i == 0 ? 1 : job->n_open + 1;
    }
}

static void fill(const write_job *job, const tm_store_chunk *chunk, const tm_store_piece *piece,
                 char *out) {
    const tm_record_column *column = column_of(chunk);
    if (job->status == TM_OK) /* else an array may be missing */
        column->fill(column, piece->slot->timeline, &piece->slot->base, piece->from, piece->n, out);
    else
        memset(out, 0, piece->n * chunk->shape.element_bytes);
}

/* Calls @p each for every piece of the group's chunks that is packed by a process that does not
 * hold it. Both processes see these pieces in the same order. */
static void each_piece(write_job *job, void (*each)(write_job *job, const tm_store_chunk *chunk,
                                                    const tm_store_piece *piece, size_t bytes)) {
    const tm_store_chunk *chunks = job->chunks.data;
    tm_store_piece piece;
    for (size_t i = 0; i < job->chunks.n; i++)
        for (size_t slot = chunks[i].slot;
             tm_store_next_piece(&job->layout, &chunks[i], &slot, &piece);)
            if (piece.slot->process != chunks[i].owner)
                each(job, &chunks[i], &piece, piece.n * chunks[i].shape.element_bytes);
}

static int *count_of(const write_job *job, int which, int process) {
    return &job->counts[which * job->n_processes + process];
}

enum { GIVEN, GIVEN_AT, RECEIVED, RECEIVED_AT };

static void count_piece(write_job *job, const tm_store_chunk *chunk, const tm_store_piece *piece,
                        size_t bytes) {
    if (piece->slot->process == job->self)
        *count_of(job, GIVEN, chunk->owner) += (int)bytes;
    if (chunk->owner == job->self)
        *count_of(job, RECEIVED, piece->slot->process) += (int)bytes;
}

static void give_piece(write_job *job, const tm_store_chunk *chunk, const tm_store_piece *piece,
                       size_t bytes) {
    if (piece->slot->process != job->self)
        return;
    int *at = count_of(job, GIVEN_AT, chunk->owner);
    fill(job, chunk, piece, job->given + *at);
    *at += (int)bytes;
}

static void set_places(write_job *job) {
    for (int p = 0, given = 0, received = 0; p < job->n_processes; p++) {
        *count_of(job, GIVEN_AT, p) = given;
        *count_of(job, RECEIVED_AT, p) = received;
        given += *count_of(job, GIVEN, p);
        received += *count_of(job, RECEIVED, p);
    }
}

static void exchange(write_job *job) {
    MPI_Request request;
    if (job->n_processes == 1)
        return;
    memset(job->counts, 0, 4 * (size_t)job->n_processes * sizeof *job->counts);
    each_piece(job, count_piece);
    set_places(job);
    each_piece(job, give_piece);
    set_places(job);
    MPI_Ialltoallv(job->given, count_of(job, GIVEN, 0), count_of(job, GIVEN_AT, 0), MPI_BYTE,
                   job->received, count_of(job, RECEIVED, 0), count_of(job, RECEIVED_AT, 0),
                   MPI_BYTE, job->comm, &request);
    (void)tm_mpi_await_data(&request, MPI_STATUS_IGNORE);
}

/* Copies the rows of a chunk that this process packs to job->rows. */
static void collect(write_job *job, const tm_store_chunk *chunk) {
    size_t element = chunk->shape.element_bytes;
    tm_store_piece piece;
    for (size_t slot = chunk->slot; tm_store_next_piece(&job->layout, chunk, &slot, &piece);) {
        char *out = job->rows + piece.place * element;
        if (piece.slot->process == job->self) {
            fill(job, chunk, &piece, out);
            continue;
        }
        int *at = count_of(job, RECEIVED_AT, piece.slot->process);
        memcpy(out, job->received + *at, piece.n * element);
        *at += (int)(piece.n * element);
    }
}

static void lay_out_parcels(write_job *job) {
    const tm_store_chunk *chunks = job->chunks.data;
    size_t at = 0;
    memset(job->parcels, 0, (size_t)job->n_processes * sizeof *job->parcels);
    for (size_t i = 0; i < job->chunks.n; i++) {
        parcel *to = &job->parcels[chunks[i].owner];
        to->n++;
        to->bound += sizeof(size_t) + tm_pack_bound(tm_store_chunk_bytes(&chunks[i]));
    }
    for (int p = 0; p < job->n_processes; p++) {
        parcel *each = &job->parcels[p];
        each->at = job->self == 0 ? at : 0;
        each->taken_bytes =
            each->n * sizeof(size_t); /* the list of sizes comes first, then the chunks */
        at += each->bound;
    }
}

/* Packs this process's chunks; returns the size [B] of its parcel. */
static size_t pack(write_job *job) {
    const tm_store_chunk *chunks = job->chunks.data;
    const parcel *own = &job->parcels[job->self];
    char *out = job->packed + own->at;
    size_t n = 0, at = own->taken_bytes;
    for (size_t i = 0; i < job->chunks.n; i++) {
        if (chunks[i].owner != job->self)
            continue;
        size_t size = 0, rows = (size_t)(chunks[i].end - chunks[i].first);
        collect(job, &chunks[i]);
        const void *packed = tm_pack_chunk(job->packer, chunks[i].shape, job->rows, rows, &size);
        if (packed) {
            memcpy(out + at, packed, size);
        } else {
            job->status = tm_fail_memory(job->err);
            size = 0;
        }
        memcpy(out + n++ * sizeof size, &size, sizeof size);
        at += size;
    }
    return at;
}

/* Sends the parcels to process 0. */
static void deliver(write_job *job, size_t bytes) {
    MPI_Request request;
    if (job->self == 0) {
        for (int p = 1; p < job->n_processes; p++)
            if (job->parcels[p].n > 0)
                (void)tm_mpi_receive(job->comm, job->packed + job->parcels[p].at,
                                     (int)job->parcels[p].bound, p, 0, MPI_STATUS_IGNORE);
    } else if (job->parcels[job->self].n > 0) {
        MPI_Isend(job->packed, (int)bytes, MPI_BYTE, 0, 0, job->comm, &request);
        (void)tm_mpi_await_data(&request, MPI_STATUS_IGNORE);
    }
}

static bool can_write(const write_job *job) {
    return job->status == TM_OK && !job->discard;
}

/* Moves the writer to a column: ends the current column, writes the columns in between, which have
 * no rows, and begins the new one. */
static void go_to_column(write_job *job, int table, int column) {
    while (can_write(job) && (job->table != table || job->column != column)) {
        const tm_record_table *at = &tm_record_tables[job->table];
        if (job->column >= 0)
            job->status = tm_store_end_column(job->writer, job->err);
        if (++job->column == at->n_columns) {
            job->column = -1;
            job->table++;
            continue;
        }
        if (job->column == 0 && job->status == TM_OK)
            job->status = tm_store_put_group(job->writer, at->path, at->doc, job->err);
        if (job->status == TM_OK)
            job->status = tm_store_begin_column(job->writer, at->path, &at->columns[job->column],
                                                (size_t)job->layout.n_rows[job->table], job->err);
    }
}

static void put(write_job *job, const tm_store_chunk *chunk) {
    parcel *from = &job->parcels[chunk->owner];
    const char *bytes = job->packed + from->at;
    size_t size;
    memcpy(&size, bytes + from->taken++ * sizeof size, sizeof size);
    if (size == 0)
        job->discard = true;
    go_to_column(job, chunk->table, chunk->column);
    if (can_write(job))
        job->status = tm_store_put_chunk(job->writer, bytes + from->taken_bytes, size, job->err);
    from->taken_bytes += size;
}

static void do_group(write_job *job) {
    const tm_store_chunk *chunks = job->chunks.data;
    open_arrays(job);
    exchange(job);
    lay_out_parcels(job);
    deliver(job, pack(job));
    for (size_t i = 0; job->self == 0 && i < job->chunks.n; i++)
        put(job, &chunks[i]);
}

/* A check whether any process failed. It starts after a group, and its result is used only after
 * the next group, so that no process waits for it. */
typedef struct question {
    MPI_Request request;
    int mine, any;
} question;

static bool answered_well(question *asked) {
    (void)tm_mpi_await(&asked->request, MPI_STATUS_IGNORE);
    return asked->any == 0;
}

static void ask(const write_job *job, question *asked) {
    asked->mine = !can_write(job);
    MPI_Iallreduce(&asked->mine, &asked->any, 1, MPI_INT, MPI_MAX, job->comm, &asked->request);
}

static void write_records(write_job *job) {
    question asked = {.request = MPI_REQUEST_NULL};
    for (;;) {
        tm_store_next_chunks(&job->walk, job->load, job->n_processes, &job->chunks);
        if (job->chunks.n == 0)
            break;
        do_group(job);
        if (!answered_well(&asked))
            break;
        ask(job, &asked);
    }
    answered_well(&asked);
    if (job->self == 0)
        go_to_column(job, TM_N_RECORDS, -1);
}

/* Writes a result table. Unpacks a packed table only while it is written. */
static tm_status put_table(const write_job *job, const tm_table *table) {
    if (!table->rests)
        return tm_store_put_table(job->writer, table, job->err);
    tm_table cells = {.def = table->def};
    tm_status status = tm_table_copy_resting(table, &cells, job->err);
    if (status == TM_OK)
        status = tm_store_put_table(job->writer, &cells, job->err);
    tm_table_clear(&cells);
    return status;
}

/* Writes names, results and attributes, which only process 0 has. */
static tm_status write_rest(const write_job *job) {
    const tm_store_plan *plan = job->plan;
    TM_TRY(tm_store_put_names(job->writer, plan->names, job->err));
    for (size_t i = 0; plan->tables && i < plan->tables->n_tables; i++)
        if (!plan->tables->tables[i].def->internal)
            TM_TRY(put_table(job, &plan->tables->tables[i]));
    for (size_t i = 0; i < plan->n_attributes; i++)
        TM_TRY(tm_store_put_attribute(job->writer, &plan->attributes[i], job->err));
    return TM_OK;
}

/* Completes or removes the file on process 0, before the processes agree on the result. */
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
                     .chunks = TM_VEC(tm_store_chunk),
                     .column = -1,
                     .err = err ? err : &unused};
    MPI_Comm_rank(comm, &job.self);
    MPI_Comm_size(comm, &job.n_processes);
    tm_status status = write_store(&job);
    free_room(&job);
    tm_store_layout_free(&job.layout);
    return status;
}
