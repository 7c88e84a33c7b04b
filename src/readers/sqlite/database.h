/* A trace that is a SQLite database: opened for reading only, its columns found by name. Private to
 * the readers of such traces. */
#ifndef TMERGE_READERS_DATABASE_H
#define TMERGE_READERS_DATABASE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/names.h"
#include "tmerge/status.h"

/** Every database begins with this and its terminating zero: 16 bytes. */
#define TM_DB_MAGIC "SQLite format 3"

/** As sniff of tm_format: whether these are the first bytes of a database. */
bool tm_db_sniff(const char *head, size_t size, bool whole);

typedef struct tm_db {
    sqlite3 *sqlite;            /* owned */
    struct tm_db_taker **taker; /* owned: of the rows of the scan under way */
    const char *path;           /* borrowed */
    int64_t size;               /* bytes of the file */
} tm_db;

/**
 * Opens a file that begins as a database does. It is taken to be at rest: no lock is held and no
 * journal is looked at, so one that is being written, or was not written to its end, is refused.
 *
 * @param path  outlives the database
 * @param out   set only on TM_OK; close it with tm_db_close
 * @return      TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_db_open(const char *path, tm_db *out, tm_error *err) TM_MUST_CHECK;

/** Takes what was never opened, all zeros. */
void tm_db_close(tm_db *db);

/** Whether the database has a table of this name. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_db_has_table(const tm_db *db, const char *table, bool *has,
                          tm_error *err) TM_MUST_CHECK;

/** What is asked of a table: column i of the answer is columns[i], null where the table has none of
 * that name. Constants of the program alone: nothing here is escaped. */
typedef struct tm_db_query {
    const char *table;
    const char *const *columns; /* [n_columns] */
    int n_columns;
    const char *where;        /* NULL: all rows; ?1 in it is the value given */
    const char *where_column; /* the column that it needs; without it the table has all rows */
} tm_db_query;

/** Takes a row: the values of the query's columns. What is not TM_OK ends the scan. */
typedef tm_status tm_db_each(void *context, sqlite3_value **values, tm_error *err);

/**
 * Scans a table in its own order, for exports have no index; a missing table has no rows.
 *
 * @param value  for ?1
 * @return       what the last @p each returned; TM_ERR_INPUT where the file is damaged;
 * TM_ERR_FAULT
 */
tm_status tm_db_scan(const tm_db *db, const tm_db_query *query, int64_t value, tm_db_each *each,
                     void *context, tm_error *err) TM_MUST_CHECK;

/** A statement of the form "SELECT take_row(A, B) FROM ...", whose arguments are each row's values.
 * Constants of the program and checked names only: nothing is escaped. */
typedef struct tm_db_statement {
    const char *sql;
    int n_columns; /* arguments of take_row */
    int64_t value; /* for ?1 */
} tm_db_statement;

/** Runs it. As tm_db_scan, but a table or column that is missing is TM_ERR_INPUT. */
tm_status tm_db_select(const tm_db *db, const tm_db_statement *statement, tm_db_each *each,
                       void *context, tm_error *err) TM_MUST_CHECK;

/** Prepares a statement.
 * @param out  end it with sqlite3_finalize  @return TM_OK; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_db_prepare(const tm_db *db, const char *sql, sqlite3_stmt **out,
                        tm_error *err) TM_MUST_CHECK;

/** Fails with TM_ERR_INPUT for a sound database that no reader takes: says whose it is and what to
 * give instead, or which tables it has. */
tm_status tm_db_fail_unread(const tm_db *db, tm_error *err) TM_MUST_CHECK;

/** Goes to a statement's next row; *row is false behind the last.
 * TM_OK; TM_ERR_INPUT where the file is damaged; TM_ERR_FAULT. */
tm_status tm_db_step(const tm_db *db, sqlite3_stmt *statement, bool *row,
                     tm_error *err) TM_MUST_CHECK;

/** The number of a table's last row, about as many as it has, found without a scan; 0 where it has
 * none. For progress. */
int64_t tm_db_last_row(const tm_db *db, const char *table);

/** An integer, or @p missing where there is none. What is none reads as 0, so few values need a
 * second look. */
static inline int64_t tm_db_int(sqlite3_value **values, int column, int64_t missing) {
    int64_t value = sqlite3_value_int64(values[column]);
    return value != 0 || sqlite3_value_type(values[column]) == SQLITE_INTEGER ? value : missing;
}

/** A text, empty where there is none; valid until the row was taken. */
static inline tm_text tm_db_text(sqlite3_value *value) {
    if (sqlite3_value_type(value) != SQLITE_TEXT)
        return (tm_text){"", 0};
    const char *bytes = (const char *)sqlite3_value_text(value);
    return (tm_text){bytes ? bytes : "", bytes ? (size_t)sqlite3_value_bytes(value) : 0};
}

#endif
