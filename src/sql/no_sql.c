/* Replaces the other files of this folder if TMERGE_SQLITE is OFF. */
#include "sql/sql.h"

static tm_status refuse(tm_error *err) {
    return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                   "this tmerge was built without SQLite (TMERGE_SQLITE=OFF)");
}

static const tm_column columns[] = {{"event", TM_INT, "", "Number of the event."}};

const tm_table_def tm_sql_events = {.name = "events",
                                    .doc = "Not available in this build (TMERGE_SQLITE=OFF).",
                                    TM_ARRAY(columns, columns),
                                    .n_keys = 1,
                                    .top = -1};

tm_status tm_sql_open(const tm_store *store, tm_sql **out, tm_error *err) {
    (void)store;
    (void)out;
    return refuse(err);
}

tm_status tm_sql_add_renamed(tm_sql *sql, const tm_renamed *renamed, tm_error *err) {
    (void)sql;
    (void)renamed;
    return refuse(err);
}

void tm_sql_close(tm_sql *sql) {
    (void)sql;
}

tm_status tm_sql_prepare(tm_sql *sql, const char *text, const tm_sql_limits *limits,
                         tm_sql_query **out, tm_error *err) {
    (void)sql;
    (void)text;
    (void)limits;
    (void)out;
    return refuse(err);
}

void tm_sql_free(tm_sql_query *query) {
    (void)query;
}

tm_rows tm_sql_rows(const tm_sql_query *query) {
    (void)query;
    return (tm_rows){&tm_sql_events, NULL, NULL};
}

tm_status tm_sql_write(const tm_store *store, const tm_sql_export *what, int64_t *n_events,
                       tm_error *err) {
    (void)store;
    (void)what;
    (void)n_events;
    return refuse(err);
}
