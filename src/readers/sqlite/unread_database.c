#include <stdio.h>
#include <string.h>

#include "profiler_database.h"

/* Databases of profilers that no reader can read. Each is recognised by a table, and has a message.
 * The first entry that matches is used. */
static const struct {
    const char *table, *what;
} known[] = {
    {"tmerge_columns",
     "tmerge itself wrote this database: give the store or the traces it was made from"},
    {"StepTraceTime", "this database contains only sums by torch_npu's profiler (Ascend): give "
                      "each rank's ascend_pytorch_profiler_RANK.db, which is in the same folder"},
    {"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
     "tmerge does not read the databases of nvprof: record with Nsight Systems"},
};

/* Appends a name, which may hold any bytes, as plain text. */
static void append_name(char *out, size_t size, const char *name) {
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%.40s", name);
    for (char *c = out + used; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
            *c = '?';
}

/* Lists the names of the first tables, separated by commas. */
static tm_status list_tables(const tm_db *db, char *out, size_t size, int *n, tm_error *err) {
    enum { SHOWN = 8 };
    sqlite3_stmt *scan;
    bool row = true;
    *n = 0;
    *out = '\0';
    TM_TRY(tm_db_prepare(db,
                         "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE "
                         "'sqlite!_%' ESCAPE '!' ORDER BY name",
                         &scan, err));
    tm_status status = tm_db_step(db, scan, &row, err);
    for (; status == TM_OK && row; status = tm_db_step(db, scan, &row, err)) {
        const unsigned char *name = sqlite3_column_text(scan, 0);
        if ((*n)++ >= SHOWN || !name)
            continue;
        if (*n > 1)
            append_name(out, size, ", ");
        append_name(out, size, (const char *)name);
    }
    sqlite3_finalize(scan);
    if (status == TM_OK && *n > SHOWN)
        snprintf(out + strlen(out), size - strlen(out), " and %d more", *n - SHOWN);
    return status;
}

tm_status tm_db_fail_unread(const tm_db *db, tm_error *err) {
    char tables[TM_MESSAGE_MAX / 2];
    int n;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        bool has = false;
        TM_TRY(tm_db_has_table(db, known[i].table, &has, err));
        if (has)
            return tm_fail(err, TM_ERR_INPUT, db->path, -1, "%s", known[i].what);
    }
    TM_TRY(list_tables(db, tables, sizeof tables, &n, err));
    if (n == 0)
        return tm_fail(err, TM_ERR_INPUT, db->path, -1, "this SQLite database has no tables");
    return tm_fail(err, TM_ERR_INPUT, db->path, -1,
                   "this SQLite database is not a trace that tmerge reads; its tables: %s", tables);
}
