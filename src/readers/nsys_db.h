/* An export as a database: opened for reading alone, its columns found by name. Private to the
 * reader of Nsight Systems exports. */
#ifndef TMERGE_NSYS_DB_H
#define TMERGE_NSYS_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "tmerge/names.h"
#include "tmerge/status.h"

/** Every database begins with this and its terminating zero: 16 bytes. */
#define TM_NSYS_MAGIC "SQLite format 3"

typedef struct tm_nsys_db {
    sqlite3 *sqlite;  /* owned */
    const char *path; /* borrowed */
    int64_t size;     /* bytes of the file */
} tm_nsys_db;

/**
 * Opens a file that begins as a database does. It is taken to be at rest: no lock is held and no
 * journal is looked at, so one that is being written, or was not written to its end, is refused.
 *
 * @param path  outlives the database
 * @param out   set only on TM_OK; close it with tm_nsys_close
 * @return      TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_nsys_open(const char *path, tm_nsys_db *out, tm_error *err) TM_MUST_CHECK;

/** Takes what was never opened, all zeros. */
void tm_nsys_close(tm_nsys_db *db);

/** Whether the database has a table of this name. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_nsys_has_table(const tm_nsys_db *db, const char *table, bool *has,
                            tm_error *err) TM_MUST_CHECK;

/** What is asked of a table: column i of the answer is columns[i], null where the table has none of
 * that name. Constants of the program alone: nothing here is escaped. */
typedef struct tm_nsys_query {
    const char *table;
    const char *const *columns; /* [n_columns] */
    int n_columns;
    const char *where;        /* NULL: all rows; ?1 in it is the value given */
    const char *where_column; /* the column that it needs; without it the table has all rows */
} tm_nsys_query;

/**
 * Begins a scan of a table in its own order: exports have no index.
 *
 * @param out  NULL where the table is missing, which means that it has no rows; end it with
 *             sqlite3_finalize
 * @return     TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_nsys_select(const tm_nsys_db *db, const tm_nsys_query *query, int64_t value,
                         sqlite3_stmt **out, tm_error *err) TM_MUST_CHECK;

/** Goes to the next row; *row is false behind the last, and at once for a scan that is NULL.
 * TM_OK; TM_ERR_INPUT where the file is damaged; TM_ERR_FAULT. */
tm_status tm_nsys_step(const tm_nsys_db *db, sqlite3_stmt *scan, bool *row,
                       tm_error *err) TM_MUST_CHECK;

/** The number of a table's last row, about as many as it has, found without a scan; 0 where it has
 * none. For progress. */
int64_t tm_nsys_last_row(const tm_nsys_db *db, const char *table);

/** An integer of the row, or @p missing where there is none. */
static inline int64_t tm_nsys_int(sqlite3_stmt *scan, int column, int64_t missing) {
    return sqlite3_column_type(scan, column) == SQLITE_INTEGER ? sqlite3_column_int64(scan, column)
                                                               : missing;
}

/** A text of the row, empty where there is none; valid until the next step. */
static inline tm_text tm_nsys_text(sqlite3_stmt *scan, int column) {
    if (sqlite3_column_type(scan, column) != SQLITE_TEXT)
        return (tm_text){"", 0};
    const char *bytes = (const char *)sqlite3_column_text(scan, column);
    return (tm_text){bytes ? bytes : "", bytes ? (size_t)sqlite3_column_bytes(scan, column) : 0};
}

#endif
