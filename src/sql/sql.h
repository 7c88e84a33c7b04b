/* A store as a database of SQLite: its result tables, and the events of all ranks as one more. */
#ifndef TMERGE_SQL_SQL_H
#define TMERGE_SQL_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table/stream.h"
#include "tmerge/store.h"

typedef struct tm_sql tm_sql;

/** The name of a table without quotes: "job.rank" as job_rank. */
void tm_sql_plain_name(const char *name, char *out, size_t size);

/**
 * Writes the names of tables in a statement as SQL takes them: FROM overlap.rank, which SQL has for
 * a table "rank" of a database "overlap", becomes FROM overlap_rank. Changes only dots, and only
 * where a table is named: after FROM, JOIN or a comma, or in front of a column.
 * @return  whether anything changed
 */
bool tm_sql_write_names(char *statement, const tm_tables *tables);

/** The columns of the table of events. */
extern const tm_table_def tm_sql_events;

/**
 * Makes the tables of a store known to a database in memory, each by two names: "job.rank", which
 * SQL wants in quotes, and job_rank. Rows are read when they are asked for.
 *
 * @param store  borrowed, as long as the database is
 * @param out    set only on TM_OK; closed by the caller
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT; TM_ERR_USAGE: built without SQLite
 */
tm_status tm_sql_open(const tm_store *store, tm_sql **out, tm_error *err) TM_MUST_CHECK;
void tm_sql_close(tm_sql *sql);

/** What one query may use. */
typedef struct tm_sql_limits {
    int64_t memory_bytes; /* of SQLite, for sorting and grouping */
    int64_t seconds;
} tm_sql_limits;

/** A statement and its rows. */
typedef struct tm_sql_query tm_sql_query;

/**
 * Prepares one statement that only reads, and runs it as far as its columns' types need. From then
 * on this database does nothing else: whatever would write, or open a file, is refused.
 *
 * @param out  set only on TM_OK; freed before the database is closed
 * @return     TM_OK; TM_ERR_USAGE: not SQL, or not allowed, or beyond a limit; as the reader
 */
tm_status tm_sql_prepare(tm_sql *sql, const char *text, const tm_sql_limits *limits,
                         tm_sql_query **out, tm_error *err) TM_MUST_CHECK;
void tm_sql_free(tm_sql_query *query);

/** Its rows: held where they are few, else the query runs again each time they are asked for. */
tm_rows tm_sql_rows(const tm_sql_query *query);

/** What of the events goes into a file; the result tables go whole. */
typedef struct tm_sql_export {
    const bool *ranks;      /* [] of the store's ranks, in their order: whether it is wanted */
    int64_t from_ns, to_ns; /* since the epoch: events that end after the one, and begin before the
                               other */
    const char *path;       /* for errors */
    int fd;                 /* open to be read and written, empty; stays the caller's */
} tm_sql_export;

/**
 * Writes all tables and the events as one database with indexes.
 * @param n_events  set on TM_OK
 * @return          TM_OK; TM_ERR_OUTPUT; as the reader
 */
tm_status tm_sql_write(const tm_store *store, const tm_sql_export *what, int64_t *n_events,
                       tm_error *err) TM_MUST_CHECK;

#endif
