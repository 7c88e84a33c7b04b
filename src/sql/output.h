/* A file that is open already, as SQLite writes one: it may have no name. */
#ifndef TMERGE_SQL_OUTPUT_H
#define TMERGE_SQL_OUTPUT_H

#include <sqlite3.h>

typedef struct tm_sql_output {
    sqlite3_vfs vfs; /* first; made known to SQLite under the name TM_SQL_OUTPUT */
    sqlite3_vfs *usual;
    int fd;    /* borrowed */
    int error; /* errno of the first failure, 0 while there is none */
} tm_sql_output;

#define TM_SQL_OUTPUT "tmerge-output"

/** @return a code of SQLite's; to be ended by tm_sql_output_end where it is SQLITE_OK */
int tm_sql_output_begin(tm_sql_output *output, int fd);

/** Once the database is closed. */
void tm_sql_output_end(tm_sql_output *output);

#endif
