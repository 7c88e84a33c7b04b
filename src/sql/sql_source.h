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

/** Completes @p sql, whose `db` is already open: sets the source, and adds the virtual tables to
 * the schema @p schema. */
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

/** Reports that an SQLite call failed. If the cause is an error of the store, reports the store's
 * error, otherwise SQLite's message. */
tm_status tm_sql_failed(const tm_sql *sql, int code, tm_error *err);

/* The values that a query allows in an integer column. */
typedef struct tm_sql_range {
    int64_t least, most;
} tm_sql_range;

/**
 * Chooses the constraints on some integer columns that SQLite shall pass to the query. The text of
 * the plan gets two letters for each constraint: the first stands for the index of the column in @p
 * columns, the second for the operator.
 *
 * @param columns  [n] at most 8
 * @param n_equal  [n] set to the number of = constraints on each column
 * @param n_other  [n] set to the number of other constraints on each column
 * @return         an SQLite code
 */
int tm_sql_plan(sqlite3_index_info *info, const int *columns, int n, int *n_equal, int *n_other);

/**
 * Computes the ranges of a plan of tm_sql_plan.
 * @param ranges  [n] initially from INT64_MIN to INT64_MAX
 */
void tm_sql_ranges(const char *plan, int n_values, sqlite3_value **values, tm_sql_range *ranges);

#endif
