/* The store: one HDF5 file with the events of a job and every result table. Schema, serial writer
 * and reader; mpi/store_write.h writes a store from many processes. */
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
    TM_STORE_MAJOR = 1, /* raised when a reader of the older version would misread the store */
    TM_STORE_MINOR = 3, /* raised when something is added to the schema */
    TM_STORE_CHUNK_ROWS = 65536,  /* default number of rows of a chunk */
    TM_STORE_CHUNK_MAX = 1 << 24, /* maximum number of rows; a reader unpacks a chunk as a whole */
    TM_STORE_ZSTD_LEVEL = 1,
    TM_STORE_ZSTD_FILTER = 32015 /* number of zstd in The HDF Group's filter registry */
};

/* Schema. Data of ranks is in record tables: HDF5 groups of equally long one-dimensional datasets
 * that cover the whole job, rank after rank. A column refers to a row of another table by the row's
 * number in the whole job. */

/** Number type of a column, in memory and in the file. */
typedef enum tm_element { TM_U8, TM_I32, TM_U32, TM_I64, TM_F32, TM_F64 } tm_element;

/** Returns the size of one number [bytes]. */
size_t tm_element_size(tm_element element);

/** Words of a u8 column: the number v means words[v]. Stored as an HDF5 enumeration. */
typedef struct tm_word_list {
    const char *const *words;
    int n;
} tm_word_list;

/** What a number in a column refers to. */
typedef enum tm_refers {
    TM_REFERS_NOTHING,
    TM_REFERS_NAME,   /* an id in /names */
    TM_REFERS_EVENT,  /* row in /events; ascending */
    TM_REFERS_LAUNCH, /* row in /events, or -1 */
    TM_REFERS_STEP    /* row in /steps, or -1 */
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

/** Returns whether a table holds events or attributes of events. In tm_record, the attribute tables
 * follow the events in the order of tm_attr. */
static inline bool tm_record_is_of_events(int table) {
    return table >= TM_RECORD_EVENTS && table <= TM_RECORD_EVENTS + TM_N_ATTRS;
}

/** Row of each record table at which a rank's rows begin. */
typedef struct tm_row_base {
    int64_t first[TM_N_RECORDS];
} tm_row_base;

typedef struct tm_record_column tm_record_column;

/** Writes rows [first, first + n) of a rank's part of a column to @p out as consecutive elements.
 * Cannot fail. */
typedef void tm_fill_function(const tm_record_column *column, const tm_timeline *timeline,
                              const tm_row_base *base, size_t first, size_t n, void *out);

/** Inverse of tm_fill_function. Copies a part of a column into the timeline: @p rows has the rows
 * [first, first + n) of the rank. The caller has allocated the timeline's arrays and set its
 * numbers of rows. Returns false if a row has a value that is impossible in a timeline. */
typedef bool tm_take_function(const tm_record_column *column, tm_timeline *timeline,
                              const tm_row_base *base, size_t first, size_t n, const void *rows);

struct tm_record_column {
    const char *name;
    const char *unit;
    const char *doc;
    tm_element element;
    tm_refers refers;
    const tm_word_list *words; /* NULL: plain numbers */
    tm_fill_function *fill;
    /* NULL: the column is not read back, because its values follow from other columns */
    tm_take_function *take;
    /* If the column is one field of the elements of an array: offset [B] in tm_timeline of the
     * pointer to that array. */
    size_t array_at;
    size_t stride;   /* size [B] of an element of the array */
    size_t field_at; /* offset [B] of the field in an element */
    bool later; /* the column was added after the first version of the store; in stores without it,
                   its values are read as -1 (unknown) */
};

typedef struct tm_record_table {
    const char *path; /* path of the group: "/events" */
    const char *doc;  /* meaning of a row */
    const tm_record_column *columns;
    int n_columns;
    bool one_row;   /* each rank has exactly one row; false: rows_at gives the number of rows */
    size_t rows_at; /* offset [B] in tm_timeline of the size_t member that has the rank's number of
                       rows */
} tm_record_table;

/** The record tables, by tm_record. */
extern const tm_record_table tm_record_tables[TM_N_RECORDS];

/** Returns the number of rows that a rank has in a record table. */
size_t tm_record_rows(const tm_record_table *table, const tm_timeline *timeline);

/** Returns how many rows a chunk has in a column with @p n_rows rows: at most @p n_rows, because
 * HDF5 refuses larger chunks. */
static inline size_t tm_store_chunk_rows(size_t chunk_rows, size_t n_rows) {
    return chunk_rows < n_rows ? chunk_rows : n_rows;
}

/**
 * Prepares HDF5. Call it before MPI_Init and before any other function here. Prevents HDF5's own
 * clean-up at exit, which crashes if memory ran out. So the caller must close everything that the
 * functions below open.
 * @return  TM_OK; TM_ERR_FAULT: HDF5 cannot start
 */
tm_status tm_store_start(tm_error *err) TM_MUST_CHECK;

/* Writer: one process, one file. The file has no name (or, if the file system does not support
 * that, a temporary one in the same folder) until tm_store_commit succeeds. After a failure of any
 * call, tm_store_abandon leaves nothing behind. Errors name the path that the file will get. All
 * calls return TM_OK, TM_ERR_OUTPUT if the file cannot be written, or TM_ERR_FAULT. */

typedef struct tm_store_writer tm_store_writer;

typedef struct tm_store_options {
    const char *tool_version;
    bool compress;     /* chunks are packed with shuffle and zstd; false: they are not packed */
    size_t chunk_rows; /* rows of a chunk, at most TM_STORE_CHUNK_MAX; 0: TM_STORE_CHUNK_ROWS */
} tm_store_options;

/**
 * Starts a store. Removes leftovers of killed processes for the same name.
 * @param out  set only on TM_OK; ended by tm_store_commit or tm_store_abandon
 */
tm_status tm_store_create(const char *path, const tm_store_options *options, tm_store_writer **out,
                          tm_error *err) TM_MUST_CHECK;

/** Makes the group of a record table, which must exist before its columns. */
tm_status tm_store_put_group(tm_store_writer *writer, const char *path, const char *doc,
                             tm_error *err) TM_MUST_CHECK;

/** Starts the dataset of a column. Then write its chunks or rows, and call tm_store_end_column. */
tm_status tm_store_begin_column(tm_store_writer *writer, const char *group,
                                const tm_record_column *column, size_t n_rows,
                                tm_error *err) TM_MUST_CHECK;

/** Writes the next chunk of the column, which tm_pack_chunk packed. */
tm_status tm_store_put_chunk(tm_store_writer *writer, const void *packed, size_t size,
                             tm_error *err) TM_MUST_CHECK;

/** Writes rows that are not packed: collects them into chunks and packs the chunks. */
tm_status tm_store_put_rows(tm_store_writer *writer, const void *rows, size_t n,
                            tm_error *err) TM_MUST_CHECK;

/** Ends the column; TM_ERR_FAULT if rows are missing. */
tm_status tm_store_end_column(tm_store_writer *writer, tm_error *err) TM_MUST_CHECK;

/** Writes the dictionary: /names/bytes, and /names/offsets, which has one number more than there
 * are names. */
tm_status tm_store_put_names(tm_store_writer *writer, const tm_names *names,
                             tm_error *err) TM_MUST_CHECK;

/** Writes a result table "analysis.table" as /analysis/ANALYSIS/TABLE. Null is stored as the
 * smallest int64, NaN, "" or the int8 -1. An empty text is therefore read back as null. */
tm_status tm_store_put_table(tm_store_writer *writer, const tm_table *table,
                             tm_error *err) TM_MUST_CHECK;

/** An attribute of the file's root group: @p text or, if that is NULL, @p number. */
typedef struct tm_store_attribute {
    const char *name;
    const char *text;
    int64_t number;
} tm_store_attribute;

tm_status tm_store_put_attribute(tm_store_writer *writer, const tm_store_attribute *attribute,
                                 tm_error *err) TM_MUST_CHECK;

/** Writes everything to disk (fsync) and gives the file its name. Always frees @p writer; removes
 * the file on failure. */
tm_status tm_store_commit(tm_store_writer *writer, tm_error *err) TM_MUST_CHECK;

/** Frees the writer and removes the file. NULL is allowed. */
void tm_store_abandon(tm_store_writer *writer);

/* Reader. It never writes. Every byte of a store is covered by a checksum that is verified before
 * the byte is used. If a store was cut short, damaged or changed by another program, opening it or
 * reading the damaged part gives TM_ERR_INPUT. */

typedef struct tm_store tm_store;

/** Returns whether a file ends like a complete tmerge store of any version. Reads only the end of
 * the file. Returns false also if the file cannot be read. */
bool tm_store_is_store(const char *path);

/**
 * Opens a store.
 * @param out  set only on TM_OK; closed by the caller
 * @return     TM_OK; TM_ERR_INPUT: missing, not a store, damaged, or of a newer major version;
 *             TM_ERR_FAULT
 */
tm_status tm_store_open(const char *path, tm_store **out, tm_error *err) TM_MUST_CHECK;
void tm_store_close(tm_store *store);

/** Returns the names "analysis.table" of the result tables, sorted; owned by the store. */
const char *const *tm_store_tables(const tm_store *store, size_t *n);

bool tm_store_has_table(const tm_store *store, const char *name);

/**
 * Appends the rows of the result table named by @p table->def. Finds columns by name: a column that
 * the store lacks is null; a column that @p table lacks is skipped.
 * @return  TM_OK; TM_ERR_INPUT: no such table, or a column of another type; TM_ERR_FAULT
 */
tm_status tm_store_read_table(const tm_store *store, tm_table *table, tm_error *err) TM_MUST_CHECK;

/** Called after each slice has been appended to the table. May remove rows. */
typedef tm_status tm_store_slice_visitor(void *context, tm_table *table, tm_error *err);

/**
 * Reads a table in slices of a few megabytes, so that the whole table need not be in memory. Calls
 * the visitor after each slice, but never for a table without rows.
 * @param visitor  NULL: no visitor
 * @return         as tm_store_read_table, or the visitor's status
 */
tm_status tm_store_visit_table(const tm_store *store, tm_table *table,
                               tm_store_slice_visitor *visitor, void *context,
                               tm_error *err) TM_MUST_CHECK;

/** Appends the rows [first, first + n) of a result table. Rows after the end of the table are left
 * out. */
tm_status tm_store_read_slice(const tm_store *store, tm_table *table, size_t first, size_t n,
                              tm_error *err) TM_MUST_CHECK;

/** Sets *n to the number of rows of a result table. Returns TM_OK; TM_ERR_INPUT: no such table. */
tm_status tm_store_table_rows(const tm_store *store, const char *name, size_t *n,
                              tm_error *err) TM_MUST_CHECK;

/** Checks every row of a result table without keeping the rows. After TM_OK, reading the table can
 * fail only when out of memory. @p n_rows is set only on TM_OK. */
tm_status tm_store_verify_table(const tm_store *store, const tm_table_def *def, size_t *n_rows,
                                tm_error *err) TM_MUST_CHECK;

/** Returns whether columns are compressed; false for a store written with --no-compress. */
bool tm_store_is_compressed(const tm_store *store);

/** Reads a text attribute of the root. @param out malloc'ed, freed by the caller; NULL if there is
 * none. */
tm_status tm_store_read_text(const tm_store *store, const char *name, char **out,
                             tm_error *err) TM_MUST_CHECK;

/** Reads a number attribute of the root; gives @p fallback if there is none. */
tm_status tm_store_read_number(const tm_store *store, const char *name, int64_t fallback,
                               int64_t *out, tm_error *err) TM_MUST_CHECK;

/** Reads the dictionary, so that each text gets the id that it has in the store. */
tm_status tm_store_read_names(const tm_store *store, tm_names **out, tm_error *err) TM_MUST_CHECK;

/** A record column open for reading, with the chunk that was read last. */
typedef struct tm_store_column tm_store_column;

/**
 * Opens a record column.
 * @param path     path of the dataset, such as "/events/begin_ns"
 * @param element  type of the rows; TM_ERR_INPUT if the column has another type
 * @param out      the caller must close it before the store
 */
tm_status tm_store_open_column(const tm_store *store, const char *path, tm_element element,
                               tm_store_column **out, tm_error *err) TM_MUST_CHECK;
void tm_store_close_column(tm_store_column *column);

size_t tm_store_column_rows(const tm_store_column *column);

/** Reads rows [first, first + n), which must exist, to @p out. Each chunk is unpacked only once if
 * the rows of successive calls ascend. */
tm_status tm_store_read_rows(tm_store_column *column, size_t first, size_t n, void *out,
                             tm_error *err) TM_MUST_CHECK;

/* Timelines, restored from the store. */

/**
 * Reads the ranks' timelines from /ranks without their arrays, but with the lengths of the arrays.
 * @param out  [n] ascending by rank, arrays NULL; malloc'ed, freed by the caller, n > 0
 * @return     TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_store_read_ranks(const tm_store *store, tm_timeline **out, size_t *n,
                              tm_error *err) TM_MUST_CHECK;

/** Selects the parts of the job to read. */
typedef struct tm_store_selection {
    const bool *ranks; /* [n] whether a rank's arrays are wanted */
    unsigned records;  /* bits 1 << tm_record of the tables to read; spans, steps, tracks and events
                          are always read. The arrays of other tables stay empty */
    bool spans_alone;  /* read only spans, but no steps, tracks or events; then records is 0 */
    bool no_events;    /* read everything except the events and their attributes; n_events is still
                          set */
} tm_store_selection;

#define TM_STORE_ALL_RECORDS (~0u)

/**
 * Reads the arrays and clocks of some ranks. Results of matching are not restored. Every number is
 * checked here, so that other code can rely on it.
 * @param names   the store's dictionary; an id that it does not contain is an error
 * @param ranks   [n] from tm_store_read_ranks. The call sets the arrays of the chosen ranks. The
 *                caller frees them with tm_timeline_destroy, even if the call fails.
 * @param selection  the ranks and tables to read
 * @return        TM_OK; TM_ERR_INPUT: a column is missing or damaged; TM_ERR_FAULT
 */
tm_status tm_store_read_timelines(const tm_store *store, const tm_names *names, tm_timeline *ranks,
                                  const tm_store_selection *selection, size_t n,
                                  tm_error *err) TM_MUST_CHECK;

/**
 * Reads the metadata of some ranks from an old store, which does not have the table /metadata_text.
 * Does nothing for newer stores. Adds the lists in the metadata to the names. All processes that
 * request the same ranks get the same ids for them.
 * @param wanted  [n] whether to read a rank's metadata; NULL: read all
 */
tm_status tm_store_read_older_metadata(const tm_store *store, tm_names *names, tm_timeline *ranks,
                                       const bool *wanted, size_t n, tm_error *err) TM_MUST_CHECK;

/** Called for each rank. The rank's arrays are freed afterwards. */
typedef tm_status tm_store_visitor(void *context, tm_timeline *timeline, size_t at, tm_error *err);

typedef struct tm_store_visit_plan {
    const tm_store *store;
    const tm_names *names; /* dictionary of the store */
    tm_timeline *ranks;    /* [n] from tm_store_read_ranks; the visit does not change them */
    size_t n;
    const bool *wanted; /* [n] true: visit the rank; NULL: visit all */
    unsigned records;   /* as in tm_store_selection */
    bool spans_alone;   /* as in tm_store_selection */
    bool no_events;     /* true: do not read events and their attributes; tm_store_read_piece reads
                           them */
    /* Only for pieces: returns whether to read a column. NULL: all columns are read. In an
     * attribute table, columns that are not read are filled with 0, but the event rows are always
     * read. */
    bool (*takes)(int table, const tm_record_column *column);
    tm_store_visitor *visitor;
    void *context;
} tm_store_visit_plan;

/**
 * Visits the ranks one after another. Reads several ranks at a time if they have together at most
 * some hundred thousand events. A rank with more events is read by itself.
 * @return  TM_OK; the visitor's status; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_store_visit(const tm_store_visit_plan *plan, tm_error *err) TM_MUST_CHECK;

/** Reads the events of ranks in pieces, so that memory does not grow with a rank's number of
 * events. */
typedef struct tm_store_pieces tm_store_pieces;

/**
 * Opens a reader of pieces.
 * @param plan  only store, names, ranks and records are used; they must exist until the reader is
 *              closed
 * @param most  maximum number of rows of a piece, at least 1
 * @param out   set only on TM_OK; the caller must close it before the store
 * @return      TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_store_open_pieces(const tm_store_visit_plan *plan, size_t most, tm_store_pieces **out,
                               tm_error *err) TM_MUST_CHECK;
void tm_store_close_pieces(tm_store_pieces *pieces);

/**
 * Reads the next piece: the events of a rank from row @p first on. @p first is the end of the
 * previous piece, or 0 to start from the beginning. Each chunk is unpacked only once if the ranks
 * of successive calls ascend. Checks everything that tm_store_read_timelines checks.
 * @param at    index of the rank; its tracks and steps must have been read
 * @param what  the tm_rows_part to read, combined with |
 * @param out   a timeline with the events of the piece, without tracks and steps. Launches and
 *              attributes refer to rows of the whole rank, not of the piece. Valid until the next
 *              call.
 * @return      TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_store_read_piece(tm_store_pieces *pieces, size_t at, size_t first, unsigned what,
                              const tm_timeline **out, tm_error *err) TM_MUST_CHECK;

/**
 * Indexes where the attributes of each piece are stored. Afterwards tm_store_seek_piece reads
 * nothing, and tm_store_read_piece skips attribute tables without rows in the piece. Every piece
 * must then start at a multiple of the maximum number of rows. Takes 8 B per piece and table.
 * @return  TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_store_index_pieces(tm_store_pieces *pieces, tm_error *err) TM_MUST_CHECK;

/**
 * Finds the attributes of the next piece. Call it before tm_store_read_piece if the next piece does
 * not follow the previous one.
 * @param first  first row of the next piece
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_store_seek_piece(tm_store_pieces *pieces, size_t at, size_t first,
                              tm_error *err) TM_MUST_CHECK;

#endif
