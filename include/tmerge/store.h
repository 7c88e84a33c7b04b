/* The store: one HDF5 file with the events of a job and every result table. Its schema, its serial
 * writer and its reader; mpi/store_write.h writes one from many processes. */
#ifndef TMERGE_STORE_H
#define TMERGE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/names.h"
#include "tmerge/status.h"
#include "tmerge/table.h"
#include "tmerge/timeline.h"

enum {
    TM_STORE_MAJOR = 1, /* raised when an older reader would misread a store */
    TM_STORE_MINOR = 3, /* raised when something is added */
    TM_STORE_CHUNK_ROWS = 65536,
    TM_STORE_CHUNK_MAX = 1 << 24, /* rows; a reader needs the memory for one chunk */
    TM_STORE_ZSTD_LEVEL = 1,
    TM_STORE_ZSTD_FILTER = 32015 /* zstd's number in The HDF Group's registry */
};

/* Schema. Everything that a rank has is a record table: an HDF5 group of equally long
 * one-dimensional datasets over the whole job, rank after rank. Rows refer to rows of other tables
 * by their job-wide number. */

/** What a column's numbers are, in memory and in the file. */
typedef enum tm_element { TM_U8, TM_I32, TM_U32, TM_I64, TM_F32, TM_F64 } tm_element;

/** Bytes of one number. */
size_t tm_element_size(tm_element element);

/** What the numbers of a u8 column stand for: v for words[v]. Stored as an HDF5 enumeration. */
typedef struct tm_word_list {
    const char *const *words;
    int n;
} tm_word_list;

/** What the numbers of a column point at; -1 points at nothing where that is allowed. */
typedef enum tm_refers {
    TM_REFERS_NOTHING,
    TM_REFERS_NAME,   /* an id in /names */
    TM_REFERS_EVENT,  /* a row in /events; ascending */
    TM_REFERS_LAUNCH, /* a row in /events or -1 */
    TM_REFERS_STEP    /* a row in /steps or -1 */
} tm_refers;

typedef enum tm_record {
    TM_RECORD_RANKS,
    TM_RECORD_CLOCK,
    TM_RECORD_SPANS,
    TM_RECORD_STEPS,
    TM_RECORD_TRACKS,
    TM_RECORD_EVENTS,
    TM_RECORD_LAUNCHES,
    TM_RECORD_KERNELS,
    TM_RECORD_COPIES,
    TM_RECORD_COLLECTIVES,
    TM_RECORD_MEMORY,
    TM_RECORD_COUNTERS,
    TM_RECORD_SHAPES,
    TM_RECORD_WAITS,
    TM_RECORD_INPUTS,
    TM_RECORD_OPERATORS,
    TM_RECORD_XLA,
    TM_RECORD_UNIFIED,
    TM_RECORD_METADATA,
    TM_RECORD_METADATA_LISTS,
    TM_RECORD_LEVELS,
    TM_N_RECORDS
} tm_record;

/** Whether it holds events or their attributes: behind the former, the latter by tm_attr. */
static inline bool tm_record_is_of_events(int table) {
    return table >= TM_RECORD_EVENTS && table <= TM_RECORD_EVENTS + TM_N_ATTRS;
}

/** The job-wide row at which one rank's rows begin, in each record table. */
typedef struct tm_row_base {
    int64_t first[TM_N_RECORDS];
} tm_row_base;

typedef struct tm_record_column tm_record_column;

/** Writes rows [first, first + n) of a rank's part of a column to @p out, element after element.
 * Cannot fail. */
typedef void tm_fill_function(const tm_record_column *column, const tm_timeline *timeline,
                              const tm_row_base *base, size_t first, size_t n, void *out);

/** The way back: takes rows [first, first + n) of a rank's part of a column from @p rows into the
 * timeline, whose arrays and numbers of rows are there. False where a row has a value that no
 * timeline gives. */
typedef bool tm_take_function(const tm_record_column *column, tm_timeline *timeline,
                              const tm_row_base *base, size_t first, size_t n, const void *rows);

struct tm_record_column {
    const char *name;
    const char *unit;
    const char *doc;
    tm_element element;
    tm_refers refers;
    const tm_word_list *words; /* NULL: the numbers mean themselves */
    tm_fill_function *fill;
    tm_take_function *take; /* NULL: the column follows from others */
    size_t array_at;        /* where the fill finds its values: bytes to the array's pointer in
                               tm_timeline, */
    size_t stride;          /* bytes of a member of that array, */
    size_t field_at;        /* bytes to the value in that member */
    bool later; /* stores of before it was added are read as if all of it were -1, unknown */
};

typedef struct tm_record_table {
    const char *path; /* of the group: "/events" */
    const char *doc;  /* what a row is */
    const tm_record_column *columns;
    int n_columns;
    bool one_row; /* a rank has one row, else as many as the size_t at rows_at in tm_timeline */
    size_t rows_at;
} tm_record_table;

/** The record tables, by tm_record. */
extern const tm_record_table tm_record_tables[TM_N_RECORDS];

/** The number of rows that a rank has in a record table. */
size_t tm_record_rows(const tm_record_table *table, const tm_timeline *timeline);

/** Rows in each chunk of a column of @p n_rows: HDF5 refuses chunks longer than the dataset. */
static inline size_t tm_store_chunk_rows(size_t chunk_rows, size_t n_rows) {
    return chunk_rows < n_rows ? chunk_rows : n_rows;
}

/**
 * Called by a program before MPI_Init, and before anything else here: HDF5 then does not end itself
 * when MPI or the program ends, where it crashes after memory ran out. All that is opened here has
 * to be closed, so there is nothing left to be done for it.
 * @return  TM_OK; TM_ERR_FAULT: HDF5 cannot start
 */
tm_status tm_store_start(tm_error *err) TM_MUST_CHECK;

/* Writer: one process, one file. The file is written without a name, or where the file system has
 * no such files under a temporary one in the same folder, and appears under its own when
 * tm_store_commit returns TM_OK. After a failure, in whatever call, tm_store_abandon leaves nothing
 * behind; errors name the path of the complete file.
 * All calls give TM_OK, TM_ERR_OUTPUT where the file cannot be written, TM_ERR_FAULT. */

typedef struct tm_store_writer tm_store_writer;

typedef struct tm_store_options {
    const char *tool_version;
    bool compress;     /* shuffle and zstd; else plain chunks */
    size_t chunk_rows; /* 0: TM_STORE_CHUNK_ROWS; at most TM_STORE_CHUNK_MAX */
} tm_store_options;

/**
 * The name that a store may have before it is complete, in the same folder: dot, base name, what
 * tells this process from all others, ".tmerge-tmp".
 *
 * @param size  of @p out; strlen(path) + 64 suffices
 * @return      false where @p size is too small; @p out is "" then
 */
bool tm_store_temporary_path(const char *path, char *out, size_t size);

/**
 * Begins a store; what killed processes left of one of this name is removed.
 * @param out  set only on TM_OK; ended by tm_store_commit or tm_store_abandon
 */
tm_status tm_store_create(const char *path, const tm_store_options *options, tm_store_writer **out,
                          tm_error *err) TM_MUST_CHECK;

/** Makes the group of a record table, which its columns need. */
tm_status tm_store_put_group(tm_store_writer *writer, const char *path, const char *doc,
                             tm_error *err) TM_MUST_CHECK;

/** Begins the dataset of a column; then come its chunks or its rows, then tm_store_end_column. */
tm_status tm_store_begin_column(tm_store_writer *writer, const char *group,
                                const tm_record_column *column, size_t n_rows,
                                tm_error *err) TM_MUST_CHECK;

/** Writes the next chunk of the column, as tm_pack_chunk made it. */
tm_status tm_store_put_chunk(tm_store_writer *writer, const void *packed, size_t size,
                             tm_error *err) TM_MUST_CHECK;

/** The same for raw rows, which are gathered to chunks and packed here. */
tm_status tm_store_put_rows(tm_store_writer *writer, const void *rows, size_t n,
                            tm_error *err) TM_MUST_CHECK;

/** Ends the column; TM_ERR_FAULT where it has not got all of its rows. */
tm_status tm_store_end_column(tm_store_writer *writer, tm_error *err) TM_MUST_CHECK;

/** The dictionary: /names/bytes, and /names/offsets with one number more than there are names. */
tm_status tm_store_put_names(tm_store_writer *writer, const tm_names *names,
                             tm_error *err) TM_MUST_CHECK;

/**
 * A result table "analysis.table" as /analysis/ANALYSIS/TABLE. Null is the smallest int64, NaN, ""
 * or the int8 -1; a text of size 0 is therefore read back as null.
 */
tm_status tm_store_put_table(tm_store_writer *writer, const tm_table *table,
                             tm_error *err) TM_MUST_CHECK;

/** An attribute of the root: @p text, or @p number where it is NULL. */
typedef struct tm_store_attribute {
    const char *name;
    const char *text;
    int64_t number;
} tm_store_attribute;

tm_status tm_store_put_attribute(tm_store_writer *writer, const tm_store_attribute *attribute,
                                 tm_error *err) TM_MUST_CHECK;

/** Writes all to the disk (fsync) and gives the file its name. @p writer is gone, whatever comes
 * of it; on a failure so is the file. */
tm_status tm_store_commit(tm_store_writer *writer, tm_error *err) TM_MUST_CHECK;

/** Gives up: removes the file. NULL is allowed. */
void tm_store_abandon(tm_store_writer *writer);

/* Reader. It never writes. Every byte of a store is under a sum that is verified before the byte is
 * believed: a store that was cut short, damaged or changed by another program gives TM_ERR_INPUT,
 * when it is opened or when what is damaged is read. */

typedef struct tm_store tm_store;

/** Whether a file ends as a complete tmerge store of any version does; false also where it cannot
 * be read. Quick: the rest of it is not looked at. */
bool tm_store_is_store(const char *path);

/**
 * @param out  set only on TM_OK; closed by the caller
 * @return     TM_OK; TM_ERR_INPUT: missing, not a store, damaged, or of a newer major version;
 *             TM_ERR_FAULT
 */
tm_status tm_store_open(const char *path, tm_store **out, tm_error *err) TM_MUST_CHECK;
void tm_store_close(tm_store *store);

/** The names "analysis.table" of its result tables in the order of names; owned by the store. */
const char *const *tm_store_tables(const tm_store *store, size_t *n);

bool tm_store_has_table(const tm_store *store, const char *name);

/**
 * Appends the rows of the result table that @p table->def names. Columns are found by name: one
 * that the store does not have is null, one that only the store has is passed over.
 *
 * @return  TM_OK; TM_ERR_INPUT: no such table, or a column of another type; TM_ERR_FAULT
 */
tm_status tm_store_read_table(const tm_store *store, tm_table *table, tm_error *err) TM_MUST_CHECK;

/** What is done when some more rows were appended to the table; it may take out any of them. */
typedef tm_status tm_store_slice_visitor(void *context, tm_table *table, tm_error *err);

/**
 * The same in slices of some megabytes, for a table that need not be in memory as a whole: calls
 * the visitor after each; none where it has no rows.
 *
 * @param visitor  NULL: none
 * @return         what the visitor answers, too
 */
tm_status tm_store_visit_table(const tm_store *store, tm_table *table,
                               tm_store_slice_visitor *visitor, void *context,
                               tm_error *err) TM_MUST_CHECK;

/** The same for rows [first, first + n), as far as there are. */
tm_status tm_store_read_slice(const tm_store *store, tm_table *table, size_t first, size_t n,
                              tm_error *err) TM_MUST_CHECK;

/** How many rows a result table has, by its name. TM_OK; TM_ERR_INPUT. */
tm_status tm_store_table_rows(const tm_store *store, const char *name, size_t *n,
                              tm_error *err) TM_MUST_CHECK;

/** Reads every row and keeps none: whether reading can fail later but for want of memory. @p n_rows
 * is set only on TM_OK. */
tm_status tm_store_verify_table(const tm_store *store, const tm_table_def *def, size_t *n_rows,
                                tm_error *err) TM_MUST_CHECK;

/** Whether its columns are compressed: false for a store that --no-compress made. */
bool tm_store_is_compressed(const tm_store *store);

/** A text attribute of the root. @param out malloc'ed, freed by the caller; NULL where there is
 * none. */
tm_status tm_store_read_text(const tm_store *store, const char *name, char **out,
                             tm_error *err) TM_MUST_CHECK;

/** A number of the root; @p fallback where there is none. */
tm_status tm_store_read_number(const tm_store *store, const char *name, int64_t fallback,
                               int64_t *out, tm_error *err) TM_MUST_CHECK;

/** The dictionary, with the ids of the store. @param out destroyed by the caller */
tm_status tm_store_read_names(const tm_store *store, tm_names **out, tm_error *err) TM_MUST_CHECK;

/** A record column that is open to be read, with its last chunk unpacked. */
typedef struct tm_store_column tm_store_column;

/**
 * @param path     "/events/begin_ns"
 * @param element  what the rows are read as; TM_ERR_INPUT where the column is of another type
 * @param out      closed by the caller, before the store is
 */
tm_status tm_store_open_column(const tm_store *store, const char *path, tm_element element,
                               tm_store_column **out, tm_error *err) TM_MUST_CHECK;
void tm_store_close_column(tm_store_column *column);

size_t tm_store_column_rows(const tm_store_column *column);

/** Reads rows [first, first + n), which must exist, to @p out. Ascending ranges unpack each chunk
 * once. */
tm_status tm_store_read_rows(tm_store_column *column, size_t first, size_t n, void *out,
                             tm_error *err) TM_MUST_CHECK;

/* Timelines, as they were before they were written. */

/**
 * The ranks of the job, with what /ranks says of each: all fields of the timeline that are no
 * array, and so how long the arrays are.
 *
 * @param out  [n] ascending in rank, the arrays NULL; malloc'ed, freed by the caller, n > 0
 * @return     TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_store_read_ranks(const tm_store *store, tm_timeline **out, size_t *n,
                              tm_error *err) TM_MUST_CHECK;

/** What of the job is read. */
typedef struct tm_store_choice {
    const bool *ranks; /* [n] whether a rank's arrays are wanted */
    unsigned records; /* bits 1 << tm_record of the tables that are wanted besides the spans, steps,
                         tracks and events; the arrays of the others stay empty */
    bool spans_alone; /* nor are steps, tracks and events wanted; records is 0 */
    bool no_events;   /* all but the events and their attributes, whose number stays */
} tm_store_choice;

#define TM_STORE_ALL_RECORDS (~0u)

/**
 * Reads the arrays and the clocks of some ranks, but for what matching answers. Every number is
 * checked, so that no later code meets a row, an id or a time that cannot be.
 *
 * @param names   the store's, with which the ids are checked
 * @param ranks   [n] as tm_store_read_ranks gave them; the wanted ones get their arrays, which
 *                tm_timeline_destroy frees, also those that a failed call leaves
 * @param choice  which ranks, and which of their tables
 * @return        TM_OK; TM_ERR_INPUT: a column is missing, or damaged; TM_ERR_FAULT
 */
tm_status tm_store_read_timelines(const tm_store *store, const tm_names *names, tm_timeline *ranks,
                                  const tm_store_choice *choice, size_t n,
                                  tm_error *err) TM_MUST_CHECK;

/**
 * Of a store that was written before /metadata_text was, the metadata of some ranks, whose lists go
 * into the names: their ids are the same on all processes that ask for the same ranks. Does nothing
 * for other stores.
 *
 * @param wanted  [n]; NULL: all
 */
tm_status tm_store_read_older_metadata(const tm_store *store, tm_names *names, tm_timeline *ranks,
                                       const bool *wanted, size_t n, tm_error *err) TM_MUST_CHECK;

/** What is done with a rank; its arrays are gone afterwards. */
typedef tm_status tm_store_visitor(void *context, tm_timeline *timeline, size_t at, tm_error *err);

typedef struct tm_store_visit_plan {
    const tm_store *store;
    const tm_names *names; /* the store's */
    tm_timeline *ranks;    /* [n] as tm_store_read_ranks gave them, and so again afterwards */
    size_t n;
    const bool *wanted; /* [n] which of them; NULL: all */
    unsigned records;   /* as in tm_store_choice */
    bool spans_alone;   /* likewise */
    bool no_events;     /* likewise: tm_store_read_piece gives them */
    /* of pieces, which columns are read besides attributes' events, those of attributes that are
     * not being 0; NULL: all */
    bool (*takes)(int table, const tm_record_column *column);
    tm_store_visitor *visitor;
    void *context;
} tm_store_visit_plan;

/**
 * Reads one rank after another, some hundred thousand events at a time, or one rank of more.
 * @return  TM_OK; what the visitor answers; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_store_visit(const tm_store_visit_plan *plan, tm_error *err) TM_MUST_CHECK;

/** The events of ranks, some at a time: memory does not grow with those that a rank has. */
typedef struct tm_store_pieces tm_store_pieces;

/**
 * @param plan  its store, names, ranks and records; used as long as the pieces are
 * @param most  rows of a piece, at least 1
 * @param out   set only on TM_OK; closed by the caller, before the store is
 * @return      TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_store_open_pieces(const tm_store_visit_plan *plan, size_t most, tm_store_pieces **out,
                               tm_error *err) TM_MUST_CHECK;
void tm_store_close_pieces(tm_store_pieces *pieces);

/**
 * Reads rows of a rank from @p first on: from 0, then each time from where the last piece ended. At
 * 0 it may begin again. Of ascending ranks each chunk is unpacked once. All is checked as by
 * tm_store_read_timelines.
 *
 * @param at    of the rank, whose tracks and steps are there
 * @param what  tm_rows_part
 * @param out   as many events as there are up to the piece's most, without tracks and steps;
 * launches and attributes name rows of the rank; valid until the next call
 * @return      TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_store_read_piece(tm_store_pieces *pieces, size_t at, size_t first, unsigned what,
                              const tm_timeline **out, tm_error *err) TM_MUST_CHECK;

/**
 * Looks once where the attributes of each piece stand: tm_store_seek_piece then reads nothing, and
 * of tables without a row of a piece nothing is read. Pieces begin at multiples of the most rows
 * then. Takes 8 B a piece and table.
 * @return  TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_store_index_pieces(tm_store_pieces *pieces, tm_error *err) TM_MUST_CHECK;

/** Before a piece of a rank that does not follow the last one: its attributes are looked for.
 * @param first  of the next piece  @return  TM_OK; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_store_seek_piece(tm_store_pieces *pieces, size_t at, size_t first,
                              tm_error *err) TM_MUST_CHECK;

#endif
