/* Lets SQLite write to a file that is already open and may have no name. */
#ifndef TMERGE_SQL_SQL_OUTPUT_H
#define TMERGE_SQL_SQL_OUTPUT_H

#include <sqlite3.h>

typedef struct tm_sql_output {
    sqlite3_vfs vfs; /* must be the first member; registered with SQLite as TM_SQL_OUTPUT */
    sqlite3_vfs *usual;
    int fd;    /* borrowed */
    int error; /* errno of the first failure; 0: none */
} tm_sql_output;

#define TM_SQL_OUTPUT "tmerge-output"

/** Registers a VFS that writes to @p fd. @return  an SQLite code; after SQLITE_OK call
 * tm_sql_output_end */
int tm_sql_output_begin(tm_sql_output *output, int fd);

/** Call after the database is closed. */
void tm_sql_output_end(tm_sql_output *output);

#endif
