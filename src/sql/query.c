/* One read-only statement and its rows. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"
#include "sql/sql_source.h"
#include "table/shown.h"

/* HELD_CELLS: a result with more cells is not held in memory; the query runs again when its rows
 * are needed. */
enum { HELD_CELLS = 1 << 18, SLICE_ROWS = 4096 };

/* Values above this are taken for times since the epoch, because no duration exceeds three
 * years. */
#define EPOCH_NS INT64_C(100000000000000000)

/* What the first run of a query shows about a column. */
typedef struct seen {
    bool has[6]; /* whether the column has a value of this type; [SQLITE_INTEGER to SQLITE_NULL] */
    int64_t largest;
} seen;

struct tm_sql_query {
    tm_sql *sql;
    sqlite3_stmt *statement;
    tm_sql_limits limits;
    int64_t ends_at_ns; /* the query is stopped when the process has used this much processor time
                           [ns] */
    int64_t next_ns;    /* limits.meanwhile is called at this processor time [ns] */
    const char *denied; /* what the refused statement would have done; NULL: not refused */
    seen *seen;         /* owned; [def.n_columns] */
    tm_vec values;      /* vector of sqlite3_value *, owned: the cells, if they are held */
    tm_column *columns; /* owned; the columns of `def`. Their names are owned, too */
    tm_table_def def;
    tm_tables held;
    bool is_held;
};

static int64_t processor_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID,
                  &t); /* Processor time: waiting for a slow reader of the output must not count. */
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int is_late(void *context) {
    enum { EVERY_NS = 20000000 };
    tm_sql_query *q = context;
    const int64_t now_ns = processor_ns();
    if (q->limits.meanwhile && now_ns > q->next_ns) {
        if (!q->limits.meanwhile(q->limits.context))
            return true;
        q->next_ns = processor_ns() + EVERY_NS;
        q->ends_at_ns += q->next_ns - EVERY_NS - now_ns;
    }
    return now_ns > q->ends_at_ns;
}

/* Decides whether SQLite may do an action. Allows only actions that are known to read only. */
static int authorize(void *context, int action, const char *first, const char *second,
                     const char *schema, const char *trigger) {
    tm_sql_query *q = context;
    (void)first;
    (void)schema;
    (void)trigger;
    bool extension =
        action == SQLITE_FUNCTION && second && sqlite3_stricmp(second, "load_extension") == 0;
    if (action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE ||
        (action == SQLITE_FUNCTION && !extension))
        return SQLITE_OK;
    q->denied = action == SQLITE_ATTACH || action == SQLITE_DETACH ? "open another file"
                : action == SQLITE_PRAGMA                          ? "use a PRAGMA"
                : extension                                        ? "load an extension"
                : action == SQLITE_TRANSACTION || action == SQLITE_SAVEPOINT
                    ? "begin or end a transaction"
                    : "do more than read";
    return SQLITE_DENY;
}

/* Restricts the database so that statements can only read its own content. */
static tm_status lock(tm_sql_query *q, tm_error *err) {
    sqlite3 *db = q->sql->db;
    /* Sorting must not write a temporary file. */
    TM_TRY(tm_sql_run(q->sql, "PRAGMA temp_store=MEMORY", err));
    (void)sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    int code = sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    if (code == SQLITE_OK) /* Without this, an unknown column in double quotes would be taken for a
                              text. */
        code = sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, (int *)NULL);
    if (code == SQLITE_OK)
        code = sqlite3_set_authorizer(db, authorize, q);
    if (code != SQLITE_OK)
        return tm_sql_failed(q->sql, code, err);
    (void)sqlite3_hard_heap_limit64(q->limits.memory_bytes);
    q->ends_at_ns = processor_ns() + q->limits.seconds * 1000000000;
    sqlite3_progress_handler(db, 1000, is_late, q);
    return TM_OK;
}

/* Reports SQLite's message, and its position in the statement if known. */
static tm_status fail_statement(const tm_sql_query *q, const char *text, tm_error *err) {
    enum { SHOWN = 24 };
    sqlite3 *db = q->sql->db;
    int at = sqlite3_error_offset(db);
    if (strcmp(sqlite3_errmsg(db), "integer overflow") ==
        0) /* This happens, for example, in sum() over times since the epoch. */
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "a sum exceeds 64 bits: use total(), which sums as reals, or sum(begin_ns - "
                       "T) with a point in time T");
    if (at < 0 || (size_t)at > strlen(text))
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "%s", sqlite3_errmsg(db));
    size_t n = strcspn(text + at, "\r\n");
    return tm_fail(err, TM_ERR_USAGE, NULL, -1, "%s; at character %zu%s%.*s%s", sqlite3_errmsg(db),
                   tm_utf8_length(text, (size_t)at) + 1, n > 0 ? ": " : "",
                   (int)(n < SHOWN ? n : SHOWN), text + at, n > SHOWN ? "..." : "");
}

static tm_status fail_query(const tm_sql_query *q, int code, const char *text, tm_error *err) {
    if (q->sql->source.failed.status != TM_OK)
        return tm_sql_failed(q->sql, code, err);
    if (q->denied)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "the statement would %s, but a query only reads the store", q->denied);
    if (code == SQLITE_INTERRUPT)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "the query takes more than %" PRId64
                       " s of processor time; tmerge query --timeout allows more",
                       q->limits.seconds);
    if (code == SQLITE_NOMEM)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "the query needs more than %" PRId64
                       " MiB of memory; tmerge query --memory allows more",
                       q->limits.memory_bytes >> 20);
    return fail_statement(q, text, err);
}

/* SQLite has no table overlap.rank. A statement with such a name is prepared again with
 * overlap_rank, which has the same length, so that error positions stay valid. */
static int prepare(tm_sql_query *q, const char *text, sqlite3_stmt **out, const char **rest) {
    const char *end;
    int code = sqlite3_prepare_v2(q->sql->db, text, -1, out, rest);
    if (code != SQLITE_ERROR || strncmp(sqlite3_errmsg(q->sql->db), "no such table", 13) != 0)
        return code;
    char *changed = strdup(text);
    if (!changed)
        return SQLITE_NOMEM;
    if (tm_sql_write_names(changed, &q->sql->source.tables)) {
        code = sqlite3_prepare_v2(q->sql->db, changed, -1, out, &end);
        *rest = text + (end - changed);
    }
    free(changed);
    return code;
}

/* Prepares a single statement; only blanks and comments may follow it. */
static tm_status prepare_one(tm_sql_query *q, const char *text, tm_error *err) {
    const char *rest = text;
    sqlite3_stmt *second = NULL;
    int code = prepare(q, text, &q->statement, &rest);
    if (code != SQLITE_OK)
        return fail_query(q, code, text, err);
    if (!q->statement || sqlite3_column_count(q->statement) == 0 ||
        !sqlite3_stmt_readonly(q->statement))
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "this is not a query: a query starts with SELECT, WITH or VALUES");
    while (code == SQLITE_OK && !second && *rest != '\0')
        code = sqlite3_prepare_v2(q->sql->db, rest, -1, &second, &rest);
    bool more = second != NULL || code != SQLITE_OK;
    (void)sqlite3_finalize(second);
    return more ? tm_fail(err, TM_ERR_USAGE, NULL, -1,
                          "there is more than one statement: give one at a time")
                : TM_OK;
}

static void drop_values(tm_sql_query *q) {
    for (size_t i = 0; i < q->values.n; i++)
        sqlite3_value_free(((sqlite3_value **)q->values.data)[i]);
    tm_vec_free(&q->values);
}

/* Records the columns' properties, and the cells unless there are too many. */
static tm_status look_at_row(tm_sql_query *q, bool *few, tm_error *err) {
    for (int c = 0; c < q->def.n_columns; c++) {
        seen *s = &q->seen[c];
        s->has[sqlite3_column_type(q->statement, c)] = true;
        int64_t value = sqlite3_column_type(q->statement, c) == SQLITE_INTEGER
                            ? sqlite3_column_int64(q->statement, c)
                            : 0;
        s->largest = value > s->largest ? value : s->largest;
    }
    *few = *few && q->values.n + (size_t)q->def.n_columns <= HELD_CELLS;
    if (!*few)
        drop_values(q);
    for (int c = 0; c < q->def.n_columns && *few; c++) {
        sqlite3_value **room = tm_vec_push(&q->values);
        if (!room)
            return tm_fail_memory(err);
        *room = sqlite3_value_dup(sqlite3_column_value(q->statement, c));
        if (!*room)
            return fail_query(q, SQLITE_NOMEM, "", err);
    }
    return TM_OK;
}

static tm_status run_first(tm_sql_query *q, tm_error *err) {
    bool few = true;
    int code;
    while ((code = sqlite3_step(q->statement)) == SQLITE_ROW)
        TM_TRY(look_at_row(q, &few, err));
    if (code != SQLITE_DONE)
        return fail_query(q, code, sqlite3_sql(q->statement), err);
    q->is_held = few;
    return TM_OK;
}

/* Returns a column's type. A column without values has its declared type. */
static tm_type type_of(const tm_sql_query *q, int column) {
    const bool *has = q->seen[column].has;
    const char *declared = sqlite3_column_decltype(q->statement, column);
    bool none =
        !has[SQLITE_TEXT] && !has[SQLITE_BLOB] && !has[SQLITE_FLOAT] && !has[SQLITE_INTEGER];
    if (none && declared)
        return strcmp(declared, "TEXT") == 0   ? TM_TEXT
               : strcmp(declared, "REAL") == 0 ? TM_REAL
                                               : TM_INT;
    return has[SQLITE_TEXT] || has[SQLITE_BLOB] ? TM_TEXT : has[SQLITE_FLOAT] ? TM_REAL : TM_INT;
}

/* Returns a unique column name, because names in a JSON object must be unique. */
static char *name_of(const tm_sql_query *q, int column) {
    const char *name = sqlite3_column_name(q->statement, column);
    int place = 1;
    for (int c = 0; name && c < column; c++)
        place += strcmp(sqlite3_column_name(q->statement, c), name) == 0;
    return place == 1 ? sqlite3_mprintf("%s", name) : sqlite3_mprintf("%s_%d", name, place);
}

static tm_status define(tm_sql_query *q, tm_error *err) {
    for (int c = 0; c < q->def.n_columns; c++) {
        char *name = name_of(q, c);
        if (!name)
            return tm_fail_memory(err);
        tm_type type = type_of(q, c);
        bool is_quantity = type != TM_TEXT && q->seen[c].largest < EPOCH_NS;
        q->columns[c] = (tm_column){name, type, is_quantity ? tm_shown_unit_of_name(name) : "", ""};
    }
    return TM_OK;
}

static tm_status put_cell(tm_table *table, tm_cell *cell, tm_type type, sqlite3_value *value,
                          tm_error *err) {
    int is = sqlite3_value_type(value);
    if (is == SQLITE_NULL)
        return TM_OK;
    if (type == TM_INT)
        tm_cell_set_int(cell, sqlite3_value_int64(value));
    else if (type == TM_REAL)
        tm_cell_set_real(cell, sqlite3_value_double(value));
    else if (is != SQLITE_BLOB) {
        const char *text = (const char *)sqlite3_value_text(value);
        return text ? tm_table_set_bytes(table, cell, text, (size_t)sqlite3_value_bytes(value), err)
                    : tm_fail_memory(err);
    } else {
        const unsigned char *bytes = sqlite3_value_blob(value);
        sqlite3_str *hex = sqlite3_str_new(NULL);
        for (int i = 0; i < sqlite3_value_bytes(value); i++)
            sqlite3_str_appendf(hex, "%02x", bytes[i]);
        char *text = sqlite3_str_finish(hex);
        tm_status status = tm_table_set_text(table, cell, text ? text : "", err);
        sqlite3_free(text);
        return status;
    }
    return TM_OK;
}

static tm_status hold(tm_sql_query *q, tm_error *err) {
    const tm_table_def *def = &q->def;
    sqlite3_value *const *values = q->values.data;
    TM_TRY(tm_tables_create(&def, 1, &q->held, err));
    tm_table *table = &q->held.tables[0];
    for (size_t i = 0; i < q->values.n;) {
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        for (int c = 0; c < def->n_columns; c++, i++)
            TM_TRY(put_cell(table, &row[c], def->columns[c].type, values[i], err));
    }
    drop_values(q);
    return TM_OK;
}

static tm_status begin(tm_sql_query *q, const char *text, tm_error *err) {
    TM_TRY(lock(q, err));
    TM_TRY(prepare_one(q, text, err));
    q->def = (tm_table_def){.name = "query", .doc = "", .n_keys = 1, .top = -1};
    q->def.n_columns = sqlite3_column_count(q->statement);
    q->columns = calloc((size_t)q->def.n_columns, sizeof *q->columns);
    q->seen = calloc((size_t)q->def.n_columns, sizeof *q->seen);
    if (!q->columns || !q->seen)
        return tm_fail_memory(err);
    q->def.columns = q->columns;
    TM_TRY(run_first(q, err));
    TM_TRY(define(q, err));
    return q->is_held ? hold(q, err) : TM_OK;
}

tm_status tm_sql_prepare(tm_sql *sql, const char *text, const tm_sql_limits *limits,
                         tm_sql_query **out, tm_error *err) {
    tm_sql_query *q = calloc(1, sizeof *q);
    if (!q)
        return tm_fail_memory(err);
    q->sql = sql;
    q->limits = *limits;
    q->values = TM_VEC(sqlite3_value *);
    tm_status status = begin(q, text, err);
    if (status == TM_OK)
        *out = q;
    else
        tm_sql_free(q);
    return status;
}

void tm_sql_free(tm_sql_query *query) {
    if (!query)
        return;
    drop_values(query);
    (void)sqlite3_finalize(query->statement);
    (void)sqlite3_set_authorizer(query->sql->db, NULL, NULL);
    tm_tables_destroy(&query->held);
    for (int c = 0; query->columns && c < query->def.n_columns; c++)
        sqlite3_free((void *)(uintptr_t)query->columns[c].name);
    free(query->columns);
    free(query->seen);
    free(query);
}

static tm_status visit_slice(tm_table *table, tm_rows_visitor *visitor, void *context,
                             tm_error *err) {
    tm_status status = table->n_rows > 0 ? visitor(context, table, err) : TM_OK;
    tm_table_clear(table);
    return status;
}

static tm_status run_again(const tm_sql_query *q, tm_table *slice, tm_rows_visitor *visitor,
                           void *context, tm_error *err) {
    int code;
    (void)sqlite3_reset(q->statement);
    while ((code = sqlite3_step(q->statement)) == SQLITE_ROW) {
        tm_cell *row = tm_table_add_row(slice);
        if (!row)
            return tm_fail_memory(err);
        for (int c = 0; c < q->def.n_columns; c++)
            TM_TRY(put_cell(slice, &row[c], q->columns[c].type,
                            sqlite3_column_value(q->statement, c), err));
        if (slice->n_rows == SLICE_ROWS)
            TM_TRY(visit_slice(slice, visitor, context, err));
    }
    if (code != SQLITE_DONE)
        return fail_query(q, code, sqlite3_sql(q->statement), err);
    return visit_slice(slice, visitor, context, err);
}

static tm_status each_row(const tm_rows *rows, tm_rows_visitor *visitor, void *context,
                          tm_error *err) {
    const tm_sql_query *q = rows->source;
    const tm_table_def *def = &q->def;
    tm_tables slice;
    if (q->is_held)
        return visitor(context, &q->held.tables[0], err);
    TM_TRY(tm_tables_create(&def, 1, &slice, err));
    tm_status status = run_again(q, &slice.tables[0], visitor, context, err);
    tm_tables_destroy(&slice);
    return status;
}

tm_rows tm_sql_rows(const tm_sql_query *query) {
    return (tm_rows){&query->def, each_row, query};
}
