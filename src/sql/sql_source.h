/* The data read by the virtual tables, and their errors. */
#ifndef TMERGE_SQL_SQL_SOURCE_H
#define TMERGE_SQL_SQL_SOURCE_H

#include <sqlite3.h>

#include "sql/sql.h"

typedef struct tm_sql_source {
    const tm_store *store;
    tm_tables tables; /* owned; rows are read on first use */
    int *n_sorted; /* owned; [tables.n_tables] number of leading integer columns by which a table's
                      rows are sorted; -1: not read yet */
    tm_timeline *ranks; /* owned; [n_ranks] timelines without arrays */
    int64_t *first_row; /* owned; [n_ranks + 1] job-wide row of each rank's first event */
    size_t n_ranks;
    tm_names *names; /* owned; NULL until events are requested */
    tm_error failed; /* the store's error, if a virtual table failed because of it */
} tm_sql_source;

struct tm_sql {
    sqlite3 *db;
    tm_sql_source source;
};

/** Module of result tables; its argument is the index of the table. */
extern const sqlite3_module tm_sql_table_module;

/** The module of events. */
extern const sqlite3_module tm_sql_events_module;

/** Completes a database whose db is open: sets the source, and adds the virtual tables to the
 * schema of this name. */
tm_status tm_sql_attach(tm_sql *sql, const tm_store *store, const char *schema,
                        tm_error *err) TM_MUST_CHECK;

/** Returns a table of the source, reading its rows on first use; NULL on failure. */
const tm_table *tm_sql_table(tm_sql_source *source, size_t table);

enum { TM_SQL_KEYS_MAX = 4 };

/** Returns the names, read on first use; NULL on failure. */
const tm_names *tm_sql_names(tm_sql_source *source);

/** Returns the statement that creates a table, to be freed by sqlite3_free; NULL if out of memory.
 * @param first  text after the first column's type, or "" */
char *tm_sql_definition(const char *name, const tm_table_def *def, const char *first);

/** Declares a definition's columns to SQLite. @return an SQLite code */
int tm_sql_declare(sqlite3 *db, const tm_table_def *def);

/** Passes a text of a trace to SQLite, repaired if it is not UTF-8; @p text outlives the query. */
void tm_sql_result_text(sqlite3_context *out, tm_text text);

/** Runs a statement to its end. */
tm_status tm_sql_run(tm_sql *sql, const char *text, tm_error *err) TM_MUST_CHECK;

/** Reports the failure of an SQLite call: the store's error, otherwise SQLite's message. */
tm_status tm_sql_failed(const tm_sql *sql, int code, tm_error *err);

/* The values that a query allows in an integer column. */
typedef struct tm_sql_range {
    int64_t least, most;
} tm_sql_range;

/**
 * Requests the constraints on some integer columns from SQLite, and encodes them in the text of the
 * plan: a letter for the index in @p columns, and one for the operator.
 *
 * @param columns  [n] at most 8
 * @param n_equal  [n] number of = constraints on each
 * @param n_other  [n] number of other constraints on each
 * @return         an SQLite code
 */
int tm_sql_plan(sqlite3_index_info *info, const int *columns, int n, int *n_equal, int *n_other);

/**
 * Computes the ranges of a plan of tm_sql_plan.
 * @param ranges  [n] initially from INT64_MIN to INT64_MAX
 */
void tm_sql_ranges(const char *plan, int n_values, sqlite3_value **values, tm_sql_range *ranges);

#endif
