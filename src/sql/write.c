/* Writes a store to a database file: copies of the virtual tables, with indexes. */
#include <stdlib.h>
#include <string.h>

#include "sql/sql_output.h"
#include "sql/sql_source.h"

/* Settings of the database. The application id ("TMrg") and the version identify such a file. There
 * is no journal and no syncing, because an incomplete file never gets its name. */
static const char settings[] = "PRAGMA main.journal_mode = OFF;"
                               "PRAGMA main.synchronous = OFF;"
                               "PRAGMA main.locking_mode = EXCLUSIVE;"
                               "PRAGMA main.user_version = 1;"
                               "PRAGMA main.application_id = 1414361703;";

/* Fails with the error of the file if the file could not be written. Otherwise returns the status
 * of SQLite's error. */
static tm_status failed(const tm_sql *sql, const tm_sql_output *output, const tm_sql_export *what,
                        tm_error *err) {
    if (sql->source.failed.status == TM_OK && output->error != 0)
        return tm_fail(err, TM_ERR_OUTPUT, what->path, -1, "cannot be written: %s",
                       strerror(output->error));
    return err->status;
}

/* Runs a text made by sqlite3_mprintf, and frees it. */
static tm_status run_made(tm_sql *sql, char *text, tm_error *err) {
    tm_status status = text ? tm_sql_run(sql, text, err) : tm_fail_memory(err);
    sqlite3_free(text);
    return status;
}

static tm_status describe(tm_sql *sql, const tm_table_def *def, const char *name, tm_error *err) {
    for (int c = 0; c < def->n_columns; c++)
        TM_TRY(run_made(sql,
                        sqlite3_mprintf("INSERT INTO main.tmerge_columns VALUES(%Q, %Q, %Q, %Q)",
                                        name, def->columns[c].name, def->columns[c].unit,
                                        def->columns[c].doc),
                        err));
    return TM_OK;
}

/* Creates an index on the leading integer keys. */
static tm_status add_index(tm_sql *sql, const tm_table_def *def, const char *name, tm_error *err) {
    sqlite3_str *text = sqlite3_str_new(sql->db);
    sqlite3_str_appendf(text, "CREATE INDEX main.\"%w_by_key\" ON \"%w\"(", name, name);
    int n = 0;
    for (; n < def->n_keys && def->columns[n].type == TM_INT; n++)
        sqlite3_str_appendf(text, "%s\"%w\"", n == 0 ? "" : ", ", def->columns[n].name);
    sqlite3_str_appendall(text, ")");
    char *made = sqlite3_str_finish(text);
    if (n > 0)
        return run_made(sql, made, err);
    sqlite3_free(made);
    return TM_OK;
}

static tm_status copy_table(tm_sql *sql, const tm_table_def *def, tm_error *err) {
    char name[128];
    if (def->internal || !tm_store_has_table(sql->source.store, def->name))
        return TM_OK;
    tm_sql_plain_name(def->name, name, sizeof name);
    TM_TRY(run_made(
        sql, sqlite3_mprintf("CREATE TABLE main.\"%w\" AS SELECT * FROM temp.\"%w\"", name, name),
        err));
    TM_TRY(run_made(
        sql, sqlite3_mprintf("CREATE VIEW main.\"%w\" AS SELECT * FROM \"%w\"", def->name, name),
        err));
    TM_TRY(add_index(sql, def, name, err));
    return describe(sql, def, name, err);
}

/* Copies the events of adjacent ranks together, to unpack each chunk of the store once. */
static tm_status copy_ranks(tm_sql *sql, const tm_sql_export *what, int64_t first, int64_t last,
                            tm_error *err) {
    return run_made(sql,
                    sqlite3_mprintf("INSERT INTO main.events SELECT * FROM temp.events "
                                    "WHERE rank BETWEEN %lld AND %lld AND begin_ns < %lld AND "
                                    "CASE duration_ns WHEN 0 THEN begin_ns >= %lld "
                                    "ELSE begin_ns + duration_ns > %lld END",
                                    (long long)first, (long long)last, (long long)what->to_ns,
                                    (long long)what->from_ns, (long long)what->from_ns),
                    err);
}

static tm_status copy_events(tm_sql *sql, const tm_sql_export *what, int64_t *n_events,
                             tm_error *err) {
    const tm_sql_source *source = &sql->source;
    *n_events = 0;
    for (size_t i = 0, end; i < source->n_ranks; i = end) {
        for (end = i; end < source->n_ranks && what->ranks[end];)
            end++;
        if (end == i) {
            end++;
            continue;
        }
        TM_TRY(copy_ranks(sql, what, source->ranks[i].rank, source->ranks[end - 1].rank, err));
        *n_events += sqlite3_changes64(sql->db);
    }
    return TM_OK;
}

static tm_status copy_all(tm_sql *sql, const tm_sql_export *what, int64_t *n_events,
                          tm_error *err) {
    TM_TRY(tm_sql_run(sql,
                      "BEGIN; CREATE TABLE main.tmerge_columns("
                      "\"table\" TEXT, \"column\" TEXT, unit TEXT, doc TEXT)",
                      err));
    for (size_t t = 0; t < sql->source.tables.n_tables; t++) {
        TM_TRY(copy_table(sql, sql->source.tables.tables[t].def, err));
        tm_table_clear(&sql->source.tables.tables[t]);
        sql->source.n_sorted[t] = -1;
    }
    TM_TRY(run_made(sql, tm_sql_definition("main.events", &tm_sql_events, " PRIMARY KEY"), err));
    TM_TRY(copy_events(sql, what, n_events, err));
    TM_TRY(describe(sql, &tm_sql_events, tm_sql_events.name, err));
    return tm_sql_run(sql,
                      "CREATE INDEX main.events_by_begin ON events(rank, begin_ns);"
                      "CREATE INDEX main.events_by_name ON events(name, duration_ns);"
                      "COMMIT",
                      err);
}

static tm_status write_file(tm_sql *sql, const tm_store *store, const tm_sql_export *what,
                            int64_t *n_events, tm_error *err) {
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2("export", &sql->db, flags, TM_SQL_OUTPUT);
    if (code != SQLITE_OK)
        return tm_sql_failed(sql, code, err);
    TM_TRY(tm_sql_run(sql, settings, err));
    TM_TRY(tm_sql_attach(sql, store, "temp", err));
    return copy_all(sql, what, n_events, err);
}

tm_status tm_sql_write(const tm_store *store, const tm_sql_export *what, int64_t *n_events,
                       tm_error *err) {
    tm_sql_output output;
    tm_sql *sql = calloc(1, sizeof *sql);
    int code = sql ? tm_sql_output_begin(&output, what->fd) : SQLITE_NOMEM;
    if (code != SQLITE_OK) {
        free(sql);
        return code == SQLITE_NOMEM ? tm_fail_memory(err)
                                    : tm_fail(err, TM_ERR_FAULT, NULL, -1, "SQLite cannot start");
    }
    tm_status status = write_file(sql, store, what, n_events, err);
    if (status != TM_OK)
        status = failed(sql, &output, what, err);
    tm_sql_close(sql);
    tm_sql_output_end(&output);
    return status;
}
