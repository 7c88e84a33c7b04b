/* The format "sqlite": a database with all tables and events. src/sql/write.c writes it from the
 * store. */
#include "export.h"

const tm_export_format tm_export_sqlite = {
    .name = "sqlite",
    .ending = ".sqlite",
    .summary = "a database of SQLite with all tables and events, for SQL, pandas, R and DuckDB",
    /* These are the bytes 60 to 71 of a database: user_version, which tm_sql_write sets, a field
     * that is 0, and application_id. */
    .begins = "\0\0\0\1\0\0\0\0TMrg",
    .begins_size = 12,
    .begins_at = 60,
    .is_database = true,
};
