#include "profiler_database.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"

enum { HEADER_BYTES = 100 }; /* size of the header, which is checked without SQLite */

bool tm_db_sniff(const char *head, size_t size, bool whole) {
    (void)whole;
    return size >= sizeof TM_DB_MAGIC && memcmp(head, TM_DB_MAGIC, sizeof TM_DB_MAGIC) == 0;
}

/* Whether SQLite reports "out of memory" because the file is damaged. In this case, either SQLite
 * cannot read the schema, so that every query fails, or quick_check finds a fault. */
static bool asks_too_much(const tm_db *db) {
    sqlite3_stmt *check = NULL;
    int code = db->sqlite
                   ? sqlite3_prepare_v2(db->sqlite, "PRAGMA quick_check(1)", -1, &check, NULL)
                   : SQLITE_OK;
    bool damaged = code == SQLITE_NOMEM;
    if (check && sqlite3_step(check) == SQLITE_ROW)
        damaged = sqlite3_stricmp((const char *)sqlite3_column_text(check, 0), "ok") != 0;
    sqlite3_finalize(check);
    return damaged;
}

static tm_status sqlite_error(const tm_db *db, int code, tm_error *err) {
    const bool damaged = code == SQLITE_NOMEM && asks_too_much(db);
    if (code == SQLITE_NOMEM && !damaged)
        return tm_fail_memory(err);
    return tm_fail(err, TM_ERR_INPUT, db->path, -1, "SQLite cannot read it: %.200s",
                   damaged      ? sqlite3_errstr(SQLITE_CORRUPT)
                   : db->sqlite ? sqlite3_errmsg(db->sqlite)
                                : sqlite3_errstr(code));
}

static uint32_t big_endian(const unsigned char *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Compares the header's page count with the file's size, so that a truncated file is reported when
 * it is opened, not when a missing page is read. */
static tm_status check_header(const char *path, const unsigned char *header, int64_t size,
                              tm_error *err) {
    int64_t page = (int64_t)header[16] << 8 | header[17], pages = big_endian(header + 28);
    page = page == 1 ? 65536 : page;
    /* the page count in the header is valid only if these two fields are equal */
    bool counted = memcmp(header + 24, header + 92, 4) == 0;
    if (page < 512 || (page & (page - 1)) != 0 || (counted && pages == 0))
        return tm_fail(err, TM_ERR_INPUT, path, 16,
                       "the header of this database is incomplete: writing it was interrupted");
    if (counted && pages * page > size)
        return tm_fail(err, TM_ERR_INPUT, path, size,
                       "this database ends too early: %lld of %lld bytes are there",
                       (long long)size, (long long)pages * (long long)page);
    return TM_OK;
}

/* A writer of a database locks bytes at 1 GiB (PENDING_BYTE of SQLite's file format). */
static bool is_locked(int file) {
    struct flock lock = {
        .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 0x40000000, .l_len = 512};
    return fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* Whether a journal exists beside the database. Like the lock, a journal shows that writing is not
 * complete; unlike the lock, it stays if the writer was killed. */
static bool has_journal(const char *path) {
    static const char *const ends[] = {"-journal", "-wal"};
    char name[TM_PATH_MAX + 16];
    struct stat info;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        int n = snprintf(name, sizeof name, "%s%s", path, ends[i]);
        if (n > 0 && (size_t)n < sizeof name && stat(name, &info) == 0 && info.st_size > 0)
            return true;
    }
    return false;
}

static tm_status check_file(const char *path, int64_t *size, tm_error *err) {
    unsigned char header[HEADER_BYTES];
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &info) != 0 || read(file, header, sizeof header) != HEADER_BYTES) {
        if (file >= 0)
            close(file);
        return tm_fail(err, TM_ERR_INPUT, path, -1, "the header of this database is missing");
    }
    /* The file is compressed: the reader was chosen by the decompressed bytes. */
    if (memcmp(header, TM_DB_MAGIC, sizeof TM_DB_MAGIC) != 0) {
        close(file);
        return tm_fail(err, TM_ERR_INPUT, path, -1,
                       "a compressed database cannot be read: decompress it first");
    }
    bool locked = is_locked(file);
    close(file);
    *size = info.st_size;
    if (locked || has_journal(path))
        return tm_fail(err, TM_ERR_INPUT, path, -1,
                       "this database is %s; wait until it is complete, or write it again",
                       locked ? "being written" : "incomplete: its journal is still there");
    return check_header(path, header, info.st_size, err);
}

/* Returns a read-only URI of the file, with special characters escaped. */
static char *uri_of(const char *path) {
    static const char options[] = "?mode=ro&immutable=1", hex[] = "0123456789ABCDEF";
    char *uri = malloc(sizeof "file://" + 3 * strlen(path) + sizeof options);
    if (!uri)
        return NULL;
    char *p = uri + sprintf(uri, *path == '/' ? "file://" : "file:");
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        if (c > ' ' && c < 0x7F && c != '%' && c != '?' && c != '#') {
            *p++ = (char)c;
        } else {
            *p++ = '%';
            *p++ = hex[c >> 4];
            *p++ = hex[c & 15];
        }
    }
    memcpy(p, options, sizeof options);
    return uri;
}

/* What a scan does with each row. */
typedef struct tm_db_taker {
    tm_db_each *each;
    void *context;
    int n_columns;
    tm_error *err;
    tm_status status;
} tm_db_taker;

/* An aggregate function of SQL that receives the rows. SQLite passes it all values of a row at
 * once, at half the cost of stepping through rows and fetching each column. SQL in a malicious file
 * may call it outside of a scan or with other columns; such calls are ignored. */
static void take_row(sqlite3_context *context, int n, sqlite3_value **values) {
    tm_db_taker *t = *(tm_db_taker **)sqlite3_user_data(context);
    if (!t || t->status != TM_OK || n != t->n_columns)
        return;
    t->status = t->each(t->context, values, t->err);
    if (t->status != TM_OK)
        sqlite3_result_error(context, "the scan has ended", -1);
}

static void end_rows(sqlite3_context *context) {
    sqlite3_result_null(context);
}

tm_status tm_db_open(const char *path, tm_db *out, tm_error *err) {
    tm_db db = {.path = path};
    TM_TRY(check_file(path, &db.size, err));
    char *uri = uri_of(path);
    db.taker = calloc(1, sizeof(tm_db_taker *));
    if (!uri || !db.taker) {
        free(uri);
        free(db.taker);
        return tm_fail_memory(err);
    }
    int code = sqlite3_open_v2(uri, &db.sqlite,
                               SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    free(uri);
    /* The file may come from anyone, so nothing in its schema may be run. */
    if (code == SQLITE_OK)
        code = sqlite3_db_config(db.sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
    if (code == SQLITE_OK)
        code = sqlite3_db_config(db.sqlite, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)NULL);
    if (code == SQLITE_OK)
        code = sqlite3_create_function_v2(db.sqlite, "take_row", -1, SQLITE_UTF8, db.taker, NULL,
                                          take_row, end_rows, NULL);
    if (code != SQLITE_OK) {
        tm_status status = sqlite_error(&db, code, err);
        tm_db_close(&db);
        return status;
    }
    *out = db;
    return TM_OK;
}

void tm_db_close(tm_db *db) {
    (void)sqlite3_close(db->sqlite);
    free(db->taker);
    *db = (tm_db){0};
}

tm_status tm_db_prepare(const tm_db *db, const char *sql, sqlite3_stmt **out, tm_error *err) {
    int code = sqlite3_prepare_v2(db->sqlite, sql, -1, out, NULL);
    return code == SQLITE_OK ? TM_OK : sqlite_error(db, code, err);
}

tm_status tm_db_has_table(const tm_db *db, const char *table, bool *has, tm_error *err) {
    sqlite3_stmt *scan;
    TM_TRY(tm_db_prepare(db, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1",
                         &scan, err));
    tm_status status = sqlite3_bind_text(scan, 1, table, -1, SQLITE_STATIC) == SQLITE_OK
                           ? tm_db_step(db, scan, has, err)
                           : tm_fail_memory(err);
    sqlite3_finalize(scan);
    return status;
}

/* Needs no statement, unlike pragma_table_info, for which SQLite parses one for each column. */
static bool has_column(const tm_db *db, const char *table, const char *column) {
    return sqlite3_table_column_metadata(db->sqlite, NULL, table, column, NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

static bool append(tm_vec *sql, const char *text) {
    return tm_vec_append(sql, text, strlen(text)) != NULL;
}

/* Returns false when out of memory. */
static bool write_query(const tm_db *db, const tm_db_query *query, tm_vec *sql) {
    bool ok = append(sql, "SELECT take_row(");
    for (int i = 0; i < query->n_columns && ok; i++) {
        bool has = has_column(db, query->table, query->columns[i]);
        ok = append(sql, i > 0 ? "," : "") && append(sql, has ? "\"" : "NULL") &&
             (!has || (append(sql, query->columns[i]) && append(sql, "\"")));
    }
    ok = ok && append(sql, ") FROM ") && append(sql, query->table);
    if (query->where && (!query->where_column || has_column(db, query->table, query->where_column)))
        ok = ok && append(sql, " WHERE ") && append(sql, query->where);
    return ok && tm_vec_append(sql, "", 1);
}

tm_status tm_db_select(const tm_db *db, const tm_db_statement *statement, tm_db_each *each,
                       void *context, tm_error *err) {
    tm_db_taker taker = {each, context, statement->n_columns, err, TM_OK};
    sqlite3_stmt *scan;
    bool row;
    TM_TRY(tm_db_prepare(db, statement->sql, &scan, err));
    /* has no effect if the statement has no ?1 */
    (void)sqlite3_bind_int64(scan, 1, statement->value);
    tm_db_taker *outer = *db->taker; /* the scan whose callback started this scan; NULL: none */
    *db->taker = &taker;
    /* error of the scan. If a callback failed, this error is dropped: it only says that the scan
     * has ended */
    tm_error failure;
    tm_status status = tm_db_step(db, scan, &row, &failure);
    if (status != TM_OK && taker.status == TM_OK && err)
        *err = failure;
    *db->taker = outer;
    sqlite3_finalize(scan);
    return taker.status != TM_OK ? taker.status : status;
}

tm_status tm_db_scan(const tm_db *db, const tm_db_query *query, int64_t value, tm_db_each *each,
                     void *context, tm_error *err) {
    bool has = false;
    TM_TRY(tm_db_has_table(db, query->table, &has, err));
    if (!has)
        return TM_OK;
    tm_vec sql = TM_VEC(char);
    tm_status status = write_query(db, query, &sql)
                           ? tm_db_select(db, &(tm_db_statement){sql.data, query->n_columns, value},
                                          each, context, err)
                           : tm_fail_memory(err);
    tm_vec_free(&sql);
    return status;
}

tm_status tm_db_step(const tm_db *db, sqlite3_stmt *statement, bool *row, tm_error *err) {
    int code = sqlite3_step(statement);
    *row = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? TM_OK : sqlite_error(db, code, err);
}

int64_t tm_db_last_row(const tm_db *db, const char *table) {
    char sql[128];
    sqlite3_stmt *scan = NULL;
    int64_t last = 0;
    snprintf(sql, sizeof sql, "SELECT max(rowid) FROM %s", table);
    if (sqlite3_prepare_v2(db->sqlite, sql, -1, &scan, NULL) == SQLITE_OK &&
        sqlite3_step(scan) == SQLITE_ROW)
        last = sqlite3_column_int64(scan, 0);
    sqlite3_finalize(scan);
    /* a row takes at least one byte, so a table cannot have more rows than the file has bytes */
    last = last < db->size ? last : db->size;
    return last > 0 ? last : 0;
}
