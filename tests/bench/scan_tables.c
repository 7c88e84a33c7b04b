/* Yardstick for Nsight Systems exports: the time that SQLite itself needs to step through tables.
 *
 *   scan_tables PATH QUERY...
 *
 * Fetches every column of every row that the queries return, in the column's own type, and keeps
 * nothing. Prints: rows; seconds (from opening the file to the last row); user_s and system_s (of
 * the process so far); peak_kb (peak of resident memory); and a sum of all values. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "timing.h"

typedef struct tally {
    int64_t rows;
    uint64_t sum; /* sum of all values, so that the compiler cannot omit a fetch */
} tally;

static uint64_t fetch(sqlite3_stmt *statement, int column) {
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        return (uint64_t)sqlite3_column_int64(statement, column);
    case SQLITE_FLOAT:
        return (uint64_t)(int64_t)sqlite3_column_double(statement, column);
    case SQLITE_TEXT:
        return *sqlite3_column_text(statement, column) +
               (uint64_t)sqlite3_column_bytes(statement, column);
    case SQLITE_BLOB:
        return (sqlite3_column_blob(statement, column) != NULL) +
               (uint64_t)sqlite3_column_bytes(statement, column);
    default:
        return 0;
    }
}

static int scan(sqlite3 *db, const char *query, tally *out) {
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(db, query, -1, &statement, NULL);
    if (code != SQLITE_OK)
        return code;
    int n_columns = sqlite3_column_count(statement);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int c = 0; c < n_columns; c++)
            out->sum += fetch(statement, c);
        out->rows++;
    }
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

int main(int argc, char **argv) {
    sqlite3 *db = NULL;
    tally all = {0, 0};
    struct rusage usage;
    if (argc < 3) {
        fputs("usage: scan_tables PATH QUERY...\n", stderr);
        return 2;
    }
    double start = now_s();
    /* NOMUTEX: without locks, SQLite is a third faster */
    int code = sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    for (int i = 2; i < argc && code == SQLITE_OK; i++)
        code = scan(db, argv[i], &all);
    double seconds = now_s() - start;
    if (code != SQLITE_OK)
        fprintf(stderr, "scan_tables: %s: %s\n", argv[1], sqlite3_errmsg(db));
    (void)sqlite3_close(db);
    if (code != SQLITE_OK || getrusage(RUSAGE_SELF, &usage) != 0)
        return EXIT_FAILURE;
    printf("rows=%" PRId64 " seconds=%.6f user_s=%.6f system_s=%.6f peak_kb=%ld sum=%" PRIu64 "\n",
           all.rows, seconds, seconds_of(usage.ru_utime), seconds_of(usage.ru_stime),
           usage.ru_maxrss, all.sum);
    return 0;
}
