#include "gather_tables.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/bytes.h"
#include "mpi/exchange/shuffle.h"

enum { TAG_ROWS = 11 };

static tm_status send_table(MPI_Comm comm, tm_table *table, tm_error *err) {
    tm_status status = tm_table_compress(table, err);
    const tm_vec *packs = status == TM_OK ? table->compressed : NULL;
    /* sent even if packing failed: process 0 waits for the message */
    tm_status sent =
        tm_mpi_send_bytes(comm, 0, TAG_ROWS, packs ? packs->data : NULL, packs ? packs->n : 0, err);
    tm_table_clear(table);
    return status != TM_OK ? status : sent;
}

static tm_status receive_table(MPI_Comm comm, int from, tm_table *table, tm_error *err) {
    void *bytes = NULL;
    size_t size = 0;
    TM_TRY(tm_mpi_receive_bytes(comm, from, TAG_ROWS, &bytes, &size, err));
    tm_status status = tm_table_unpack(table, bytes, size, err);
    free(bytes);
    return status;
}

tm_status tm_mpi_gather_tables(MPI_Comm comm, tm_tables *tables, tm_error *err) {
    int self, n_processes;
    MPI_Comm_rank(comm, &self);
    MPI_Comm_size(comm, &n_processes);
    tm_status status = TM_OK;
    for (size_t t = 0; t < tables->n_tables; t++) {
        tm_table *table = &tables->tables[t];
        tm_status done = self == 0 ? tm_table_take_back(table, err) : TM_OK;
        status = status == TM_OK ? done : status;
        for (int from = 1; from < n_processes; from++) {
            done = TM_OK;
            if (self == 0)
                done = receive_table(comm, from, table, err);
            else if (self == from)
                done = send_table(comm, table, err);
            status = status == TM_OK ? done : status;
        }
        tm_table_sort(table);
        done = status == TM_OK ? tm_table_rest(table, err) : TM_OK;
        status = status == TM_OK ? done : status;
        tm_table_trim(table);
    }
    return tm_mpi_agree(comm, status, err);
}

/* Size [B] of the packed rows of a part. Rows in transit take five times as much memory as packed
 * rows, and so do unpacked rows. There are at most eight parts. More parts would not save much
 * memory: an eighth of the rows, unpacked, takes less than all packed rows, which are in memory
 * anyway. More parts would cost time, because the packed rows are scanned once for each part. */
static const size_t PART_BYTES = (size_t)6 << 20;
enum { MOST_PARTS = 8 };

/* A row in transit: hash of its key, one null bit per column, then 8 bytes per column. */
enum { R_HASH, R_NULLS, R_CELLS };

static uint64_t hash_key(const tm_table_def *def, const tm_cell *row) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (int c = 0; c < def->n_merged; c++) {
        hash = (hash ^ (row[c].null ? 0 : (uint64_t)row[c].value.i)) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static int owner_of(const void *record, int n_processes) {
    uint64_t hash;
    memcpy(&hash, record, sizeof hash);
    return (int)(hash % (uint64_t)n_processes);
}

/* Serialises those rows that belong to a part. */
typedef struct writer {
    const tm_table_def *def;
    tm_key_part part;
    tm_vec records;
} writer;

/* Appends a row to the records if the row belongs to the part. */
static bool write_row(void *context, const tm_cell *row) {
    writer *w = context;
    const uint64_t hash = hash_key(w->def, row);
    if ((hash >> 32) % w->part.n != w->part.number)
        return true;
    uint64_t *record = tm_vec_push(&w->records);
    if (!record)
        return false;
    record[R_HASH] = hash;
    record[R_NULLS] = 0;
    for (int c = 0; c < w->def->n_columns; c++) {
        record[R_NULLS] |= (uint64_t)row[c].null << c;
        memcpy(&record[R_CELLS + c], &row[c].value, sizeof *record);
    }
    return true;
}

static bool read_rows(const tm_vec *records, tm_table *table) {
    size_t width = records->size / sizeof(uint64_t);
    const uint64_t *record = records->data;
    for (size_t r = 0; r < records->n; r++, record += width) {
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return false;
        for (int c = 0; c < table->def->n_columns; c++) {
            row[c].null = record[R_NULLS] >> c & 1;
            memcpy(&row[c].value, &record[R_CELLS + c], sizeof *record);
        }
    }
    return true;
}

tm_status tm_mpi_join_keys(MPI_Comm comm, tm_key_part part, tm_table *table, tm_error *err) {
    int n_processes;
    MPI_Comm_size(comm, &n_processes);
    if (n_processes == 1 && part.n == 1)
        return tm_table_take_back(table, err);
    size_t size = ((size_t)table->def->n_columns + R_CELLS) * sizeof(uint64_t);
    assert(table->def->n_columns <= 64); /* the null bits of a row must fit into one word */
    writer w = {table->def, part, {.size = size}};
    tm_vec joined = {.size = size};
    tm_status status = tm_table_compress(table, err);
    if (status == TM_OK)
        status = tm_table_each_compressed(table, write_row, &w, err);
    status = tm_mpi_agree(comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(comm, &w.records, owner_of, &joined, err);
    if (status == TM_OK && !read_rows(&joined, table))
        status = tm_fail_memory(err);
    tm_vec_free(&w.records);
    tm_vec_free(&joined);
    return tm_mpi_agree(comm, status, err);
}

enum { MOST_TABLES = 64 }; /* maximum number of tables of an analysis */

/* How the tables of an analysis are joined: in how many parts, and which tables have rows on any
 * process. */
typedef struct joins {
    const tm_analysis *analysis;
    uint64_t n_parts;
    uint64_t has_rows; /* one bit per table to join */
} joins;

static joins find_joins(MPI_Comm comm, const tm_analysis *analysis, const tm_tables *tables) {
    joins found = {.analysis = analysis};
    /* own[0] is the number of parts that this process needs; own[1 + t] is 1 if table t has rows to
     * join */
    uint64_t bytes = 0, own[1 + MOST_TABLES] = {0};
    assert(analysis->n_tables <= MOST_TABLES);
    for (size_t t = 0; t < analysis->n_tables; t++) {
        const tm_table *table = tm_tables_find(tables, analysis->tables[t]->name);
        const uint64_t compressed = table->compressed ? table->compressed->n : 0;
        bytes += analysis->tables[t]->n_merged > 0 ? compressed : 0;
        own[1 + t] = analysis->tables[t]->n_merged > 0 && compressed + table->n_rows > 0;
    }
    own[0] = 1 + bytes / PART_BYTES < MOST_PARTS ? 1 + bytes / PART_BYTES : MOST_PARTS;
    MPI_Allreduce(MPI_IN_PLACE, own, 1 + (int)analysis->n_tables, MPI_UINT64_T, MPI_MAX, comm);
    found.n_parts = own[0];
    for (size_t t = 0; t < analysis->n_tables; t++)
        found.has_rows |= own[1 + t] << t;
    return found;
}

static tm_status merge_part(MPI_Comm comm, tm_key_part part, const joins *of, const tm_names *names,
                            tm_tables *tables, tm_error *err) {
    const tm_analysis *analysis = of->analysis;
    for (size_t t = 0; t < analysis->n_tables; t++)
        if (of->has_rows >> t & 1)
            TM_TRY(tm_mpi_join_keys(comm, part, tm_tables_find(tables, analysis->tables[t]->name),
                                    err));
    return tm_mpi_agree(comm, tm_analyse_merged(analysis, names, tables, err), err);
}

tm_status tm_mpi_merge_keys(MPI_Comm comm, const tm_names *names, tm_tables *tables,
                            tm_error *err) {
    size_t n = 0;
    const tm_analysis *const *analyses = tm_analyses(&n);
    for (size_t a = 0; a < n; a++) {
        if (!analyses[a]->merge)
            continue;
        const joins of = find_joins(comm, analyses[a], tables);
        tm_key_part part = {.n = of.n_parts};
        for (; part.number < part.n; part.number++)
            TM_TRY(merge_part(comm, part, &of, names, tables, err));
        for (size_t t = 0; t < analyses[a]->n_tables; t++)
            if (analyses[a]->tables[t]->n_merged > 0)
                tm_table_clear(tm_tables_find(tables, analyses[a]->tables[t]->name));
    }
    return TM_OK;
}
