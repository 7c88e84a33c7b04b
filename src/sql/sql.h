/* A store as an SQLite database: its result tables, and the events of all ranks. */
#ifndef TMERGE_SQL_SQL_H
#define TMERGE_SQL_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table/renamed.h"
#include "table/stream.h"
#include "tmerge/store.h"

typedef struct tm_sql tm_sql;

/** Converts a table name so that it needs no quotes: "job.rank" to job_rank. */
void tm_sql_plain_name(const char *name, char *out, size_t size);

/**
 * Replaces the dot in each table name of a statement by an underscore. For example, FROM
 * overlap.rank becomes FROM overlap_rank, because in SQL overlap.rank would be table "rank" of a
 * database "overlap". A table name is recognised after FROM, JOIN or a comma, and in front of the
 * dot and name of a column.
 * @return  whether anything changed
 */
bool tm_sql_write_names(char *statement, const tm_tables *tables);

/** Definition of the table of events. */
extern const tm_table_def tm_sql_events;

/**
 * Creates an in-memory database with the tables of a store, each under two names: "job.rank", which
 * SQL requires in quotes, and job_rank. Rows are read on demand.
 *
 * @param store  borrowed while the database is open
 * @param out    set only on TM_OK; closed by the caller
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT; TM_ERR_USAGE: built without SQLite
 */
tm_status tm_sql_open(const tm_store *store, tm_sql **out, tm_error *err) TM_MUST_CHECK;
void tm_sql_close(tm_sql *sql);

/** Adds a table under its former name, with its former columns. TM_OK; TM_ERR_FAULT. */
tm_status tm_sql_add_renamed(tm_sql *sql, const tm_renamed *renamed, tm_error *err) TM_MUST_CHECK;

typedef struct tm_sql_limits {
    int64_t memory_bytes; /* limit of SQLite's memory [B]; sorting and grouping need it */
    int64_t seconds;      /* limit of processor time [s]; time in `meanwhile` does not count */
    /* called about every 20 ms while the statement runs; false: stops the statement as if it were
     * over the limit. NULL: nothing to do meanwhile */
    bool (*meanwhile)(void *context);
    void *context;
} tm_sql_limits;

/** A statement and its rows. */
typedef struct tm_sql_query tm_sql_query;

/**
 * Prepares one read-only statement, and runs it to find the types of its columns. From then on, the
 * database refuses all statements that would write or open a file.
 *
 * @param out  set only on TM_OK; freed before the database is closed
 * @return     TM_OK; TM_ERR_USAGE: not SQL, not allowed, or over a limit; errors of the reader
 */
tm_status tm_sql_prepare(tm_sql *sql, const char *text, const tm_sql_limits *limits,
                         tm_sql_query **out, tm_error *err) TM_MUST_CHECK;
void tm_sql_free(tm_sql_query *query);

/** Returns the rows of a query: from memory if they are few, otherwise by running the query again
 * for each pass over them. */
tm_rows tm_sql_rows(const tm_sql_query *query);

/** The part of the events to export; result tables are exported completely. */
typedef struct tm_sql_export {
    const bool *ranks;      /* [number of the store's ranks] whether each is exported */
    int64_t from_ns, to_ns; /* the window [from_ns, to_ns), since the epoch: exports the events that
                               overlap it. An event without duration counts at its start */
    const char *path;       /* for errors */
    int fd; /* descriptor of an empty file that is open for reading and writing; the caller closes
               it */
} tm_sql_export;

/**
 * Writes all tables and the events as one database with indexes.
 * @param n_events  set on TM_OK
 * @return          TM_OK; TM_ERR_OUTPUT; errors of the reader
 */
tm_status tm_sql_write(const tm_store *store, const tm_sql_export *what, int64_t *n_events,
                       tm_error *err) TM_MUST_CHECK;

#endif
