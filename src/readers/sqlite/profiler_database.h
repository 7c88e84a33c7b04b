/* A trace in a SQLite database, opened read-only; columns are found by name. Private to the readers
 * of such traces. */
#ifndef TMERGE_READERS_PROFILER_DATABASE_H
#define TMERGE_READERS_PROFILER_DATABASE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/names.h"
#include "tmerge/status.h"

/** The first 16 bytes of every database are this text and its terminating zero. */
#define TM_DB_MAGIC "SQLite format 3"

/** Implements sniff of tm_format: whether these are the first bytes of a database. */
bool tm_db_sniff(const char *head, size_t size, bool whole);

typedef struct tm_db {
    sqlite3 *sqlite;            /* owned */
    struct tm_db_taker **taker; /* owned: what the current scan does with rows */
    const char *path;           /* borrowed */
    int64_t size;               /* size of the file [bytes] */
} tm_db;

/**
 * Opens a file that starts like a database. The file is read without locks or journal, so a file
 * that is being written, or is incomplete, is an error.
 *
 * @param path  must stay valid as long as the database
 * @param out   set only on TM_OK; close it with tm_db_close
 * @return      TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_db_open(const char *path, tm_db *out, tm_error *err) TM_MUST_CHECK;

/** Closes a database. A database of all zeros that was never opened is also accepted. */
void tm_db_close(tm_db *db);

/** Sets *has to whether the database has a table of this name. TM_OK; TM_ERR_INPUT;
 * TM_ERR_FAULT. */
tm_status tm_db_has_table(const tm_db *db, const char *table, bool *has,
                          tm_error *err) TM_MUST_CHECK;

/** A query on a table: value i of a row is columns[i], or null if the table has no such column.
 * The texts must be constants of the program, because they are not escaped. */
typedef struct tm_db_query {
    const char *table;
    const char *const *columns; /* [n_columns] */
    int n_columns;
    /* condition on the rows, in which ?1 stands for the given value; NULL: all rows */
    const char *where;
    /* column that `where` needs; if the table lacks it, all rows are read */
    const char *where_column;
} tm_db_query;

/** Handles a row: the values of the query's columns. Any status except TM_OK ends the scan. */
typedef tm_status tm_db_each(void *context, sqlite3_value **values, tm_error *err);

/**
 * Scans a table in the order in which it is stored. (Exported databases have no indexes.) If the
 * table does not exist, there are no rows.
 *
 * @param value  value of ?1 in the query's condition
 * @return       the status that the last call of @p each returned; TM_ERR_INPUT if the file is
 *               damaged; TM_ERR_FAULT
 */
tm_status tm_db_scan(const tm_db *db, const tm_db_query *query, int64_t value, tm_db_each *each,
                     void *context, tm_error *err) TM_MUST_CHECK;

/** A statement "SELECT take_row(A, B) FROM ...", whose arguments are the values of a row. The text
 * must consist of constants of the program and names that were checked, because nothing is
 * escaped. */
typedef struct tm_db_statement {
    const char *sql;
    int n_columns; /* number of arguments of take_row */
    int64_t value; /* value of ?1 */
} tm_db_statement;

/** Runs a statement. Returns like tm_db_scan, but a missing table or column is TM_ERR_INPUT. */
tm_status tm_db_select(const tm_db *db, const tm_db_statement *statement, tm_db_each *each,
                       void *context, tm_error *err) TM_MUST_CHECK;

/** Prepares a statement.
 * @param out  end it with sqlite3_finalize  @return TM_OK; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_db_prepare(const tm_db *db, const char *sql, sqlite3_stmt **out,
                        tm_error *err) TM_MUST_CHECK;

/** Fails with TM_ERR_INPUT for a valid database that no reader can read. The message names the
 * program that wrote the database, and the file that can be read instead. For an unknown database,
 * the message lists the tables. */
tm_status tm_db_fail_unread(const tm_db *db, tm_error *err) TM_MUST_CHECK;

/** Advances to a statement's next row; *row is false after the last one.
 * TM_OK; TM_ERR_INPUT if the file is damaged; TM_ERR_FAULT. */
tm_status tm_db_step(const tm_db *db, sqlite3_stmt *statement, bool *row,
                     tm_error *err) TM_MUST_CHECK;

/** Returns the highest row id of a table, which is about the number of its rows; 0 if the table has
 * no rows. Does not scan the table. The number is used to report progress. */
int64_t tm_db_last_row(const tm_db *db, const char *table);

/** Returns an integer, or @p missing if the value is not a number. The type is checked only if the
 * result is 0, because SQLite converts values that are not numbers to 0. */
static inline int64_t tm_db_int(sqlite3_value **values, int column, int64_t missing) {
    int64_t value = sqlite3_value_int64(values[column]);
    return value != 0 || sqlite3_value_type(values[column]) == SQLITE_INTEGER ? value : missing;
}

/** Returns a text; an empty text if the value is not a text. It is valid until the callback of the
 * row returns. */
static inline tm_text tm_db_text(sqlite3_value *value) {
    if (sqlite3_value_type(value) != SQLITE_TEXT)
        return (tm_text){"", 0};
    const char *bytes = (const char *)sqlite3_value_text(value);
    return (tm_text){bytes ? bytes : "", bytes ? (size_t)sqlite3_value_bytes(value) : 0};
}

#endif
