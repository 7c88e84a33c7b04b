#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql/sql_source.h"
#include "tmerge/analysis.h"

tm_status tm_sql_failed(const tm_sql *sql, int code, tm_error *err) {
    if (sql->source.failed.status != TM_OK) {
        if (err)
            *err = sql->source.failed;
        return sql->source.failed.status;
    }
    if (code == SQLITE_NOMEM)
        return tm_fail_memory(err);
    return tm_fail(err, TM_ERR_FAULT, NULL, -1, "SQLite: %s",
                   sql->db ? sqlite3_errmsg(sql->db) : sqlite3_errstr(code));
}

tm_status tm_sql_run(tm_sql *sql, const char *text, tm_error *err) {
    int code = sqlite3_exec(sql->db, text, NULL, NULL, NULL);
    return code == SQLITE_OK ? TM_OK : tm_sql_failed(sql, code, err);
}

/* Creates the SQLite table that shows a result table, if the store has the result table. */
static tm_status add_table(tm_sql *sql, const char *schema, size_t t, tm_error *err) {
    char plain[128], *text;
    const char *name = sql->source.tables.tables[t].def->name;
    if (sql->source.tables.tables[t].def->internal || !tm_store_has_table(sql->source.store, name))
        return TM_OK;
    tm_sql_plain_name(name, plain, sizeof plain);
    text = sqlite3_mprintf("CREATE VIRTUAL TABLE %s.\"%w\" USING tm_table(%d);"
                           "CREATE VIRTUAL TABLE %s.\"%w\" USING tm_table(%d);",
                           schema, name, (int)t, schema, plain, (int)t);
    if (!text)
        return tm_fail_memory(err);
    tm_status status = tm_sql_run(sql, text, err);
    sqlite3_free(text);
    return status;
}

static tm_status add_tables(tm_sql *sql, const char *schema, tm_error *err) {
    char text[128];
    int code = sqlite3_create_module(sql->db, "tm_table", &tm_sql_table_module, &sql->source);
    if (code == SQLITE_OK)
        code = sqlite3_create_module(sql->db, "tm_events", &tm_sql_events_module, &sql->source);
    if (code != SQLITE_OK)
        return tm_sql_failed(sql, code, err);
    TM_TRY(tm_sql_run(sql, "BEGIN", err)); /* A single transaction for all tables is faster. */
    for (size_t t = 0; t < sql->source.tables.n_tables; t++)
        TM_TRY(add_table(sql, schema, t, err));
    snprintf(text, sizeof text, "CREATE VIRTUAL TABLE %s.events USING tm_events; COMMIT", schema);
    return tm_sql_run(sql, text, err);
}

static tm_status open_source(tm_sql_source *source, const tm_store *store, tm_error *err) {
    source->store = store;
    TM_TRY(tm_analysis_tables(&source->tables, err));
    TM_TRY(tm_store_read_ranks(store, &source->ranks, &source->n_ranks, err));
    source->n_sorted = calloc(source->tables.n_tables, sizeof *source->n_sorted);
    source->first_row = calloc(source->n_ranks + 1, sizeof *source->first_row);
    if (!source->n_sorted || !source->first_row)
        return tm_fail_memory(err);
    for (size_t t = 0; t < source->tables.n_tables; t++)
        source->n_sorted[t] = -1;
    for (size_t i = 0; i < source->n_ranks; i++)
        source->first_row[i + 1] = source->first_row[i] + (int64_t)source->ranks[i].n_events;
    return TM_OK;
}

tm_status tm_sql_attach(tm_sql *sql, const tm_store *store, const char *schema, tm_error *err) {
    TM_TRY(open_source(&sql->source, store, err));
    return add_tables(sql, schema, err);
}

tm_status tm_sql_add_renamed(tm_sql *sql, const tm_renamed *renamed, tm_error *err) {
    char was[128], now[128];
    const tm_table *table = tm_tables_look_up(&sql->source.tables, renamed->now);
    sqlite3_str *text = sqlite3_str_new(sql->db);
    tm_sql_plain_name(renamed->was, was, sizeof was);
    tm_sql_plain_name(renamed->now, now, sizeof now);
    sqlite3_str_appendf(text, "CREATE TEMP VIEW \"%w\" AS SELECT ", was);
    const int first = renamed->level ? 1 : 0;
    for (int c = first; table && c < table->def->n_columns; c++) {
        const char *own_column = table->def->columns[c].name;
        sqlite3_str_appendf(text, "%s\"%w\" AS \"%w\"", c > first ? ", " : "", own_column,
                            tm_renamed_column(renamed, own_column));
    }
    sqlite3_str_appendf(text, " FROM \"%w\"", now);
    if (renamed->level)
        sqlite3_str_appendf(text, " WHERE level = %Q", renamed->level);
    char *statement = sqlite3_str_finish(text);
    tm_status status = statement ? tm_sql_run(sql, statement, err) : tm_fail_memory(err);
    sqlite3_free(statement);
    return status;
}

tm_status tm_sql_open(const tm_store *store, tm_sql **out, tm_error *err) {
    tm_sql *sql = calloc(1, sizeof *sql);
    if (!sql)
        return tm_fail_memory(err);
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(":memory:", &sql->db, flags, NULL);
    tm_status status =
        code == SQLITE_OK ? tm_sql_attach(sql, store, "main", err) : tm_sql_failed(sql, code, err);
    if (status == TM_OK)
        *out = sql;
    else
        tm_sql_close(sql);
    return status;
}

void tm_sql_close(tm_sql *sql) {
    if (!sql)
        return;
    (void)sqlite3_close(sql->db);
    tm_tables_destroy(&sql->source.tables);
    tm_names_destroy(sql->source.names);
    free(sql->source.n_sorted);
    free(sql->source.first_row);
    free(sql->source.ranks);
    free(sql);
}
