/* What the virtual tables read, and what they fail with. */
#ifndef TMERGE_SQL_SOURCE_H
#define TMERGE_SQL_SOURCE_H

#include <sqlite3.h>

#include "sql/sql.h"

typedef struct tm_sql_source {
    const tm_store *store;
    tm_tables tables;   /* owned; rows are read when they are first asked for */
    int *n_sorted;      /* owned; [tables.n_tables] by how many leading columns rows ascend, all of
                           them whole numbers; -1: not read yet */
    tm_timeline *ranks; /* owned; [n_ranks] without their arrays */
    int64_t *first_row; /* owned; [n_ranks + 1] the job-wide row of each rank's first event */
    size_t n_ranks;
    tm_names *names; /* owned; NULL until events are asked for */
    tm_error failed; /* what the store answered, where a virtual table failed */
} tm_sql_source;

struct tm_sql {
    sqlite3 *db;
    tm_sql_source source;
    int64_t ends_at_ns; /* of the clock that counts on; a query that runs then is stopped */
};

/** The module of result tables: its argument is the number of the table. */
extern const sqlite3_module tm_sql_table_module;

/** The module of events. */
extern const sqlite3_module tm_sql_events_module;

/** Opens the rest of a database whose db is open: the source and its virtual tables, in the schema
 * of this name. */
tm_status tm_sql_attach(tm_sql *sql, const tm_store *store, const char *schema,
                        tm_error *err) TM_MUST_CHECK;

/** The rows of a table of the source, read where they are not yet; NULL where that fails. */
const tm_table *tm_sql_table(tm_sql_source *source, size_t table);

enum { TM_SQL_KEYS_MAX = 4 };

/** The names, read where they are not yet; NULL where that fails. */
const tm_names *tm_sql_names(tm_sql_source *source);

/** The statement that makes a table, freed by sqlite3_free; NULL where memory is out.
 * @param first  what stands behind the first column's type, or "" */
char *tm_sql_definition(const char *name, const tm_table_def *def, const char *first);

/** Declares what a definition has to SQLite. @return a code of SQLite's */
int tm_sql_declare(sqlite3 *db, const tm_table_def *def);

/** Gives SQLite a text of a trace, repaired where it is no UTF-8; @p text outlives the query. */
void tm_sql_result_text(sqlite3_context *out, tm_text text);

/** The same statement, run to its end. */
tm_status tm_sql_run(tm_sql *sql, const char *text, tm_error *err) TM_MUST_CHECK;

/** The failure of a call of SQLite: what the store said, else what SQLite says. */
tm_status tm_sql_failed(const tm_sql *sql, int code, tm_error *err);

/* The values that a column of whole numbers may have. */
typedef struct tm_sql_range {
    int64_t least, most;
} tm_sql_range;

/** Narrows a range by a constraint: null, which no value equals, leaves nothing of it, and what is
 * no number leaves it as it is, for SQLite looks at every row again. @param op
 * SQLITE_INDEX_CONSTRAINT_... */
void tm_sql_narrow(tm_sql_range *range, int op, sqlite3_value *value);

/**
 * Asks SQLite for the constraints on some columns of whole numbers, and notes them as the text of
 * the plan: a letter for the place in @p columns, and one for the operator.
 *
 * @param columns  [n] at most 8
 * @param n_equal  [n] how many constraints of = each has
 * @param n_other  [n] how many others
 * @return         a code of SQLite's
 */
int tm_sql_plan(sqlite3_index_info *info, const int *columns, int n, int *n_equal, int *n_other);

/** The ranges of a plan of tm_sql_plan. @param ranges  [n] whole at first */
void tm_sql_ranges(const char *plan, int n_values, sqlite3_value **values, tm_sql_range *ranges);

#endif
