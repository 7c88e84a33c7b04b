/* Changes cells in a valid database of AMD's or Ascend's profilers, reads the database, and builds
 * timelines. The outcome must be an error or a valid timeline. (The inputs of fuzz_database.c are
 * damaged files, few of which have rows to read.) The database is in memory. The input is a list of
 * changes to its rows, which are undone after the run.
 *
 * The macro CELLS_DATABASE is the path of the database, CELLS_FORMAT is its format. */
#include <sqlite3.h>

#include "base/hash.h"
#include "database.h"

static sqlite3 *memory;

/* The linker replaces functions of SQLite by the functions __wrap_X below, so that all runs use one
 * connection. SQLite then parses the schema only once, and each statement of a reader only once. */

typedef void step_function(sqlite3_context *context, int n, sqlite3_value **values);
typedef void end_function(sqlite3_context *context);

int __real_sqlite3_close(sqlite3 *db);
int __real_sqlite3_finalize(sqlite3_stmt *statement);
int __real_sqlite3_prepare_v2(sqlite3 *db, const char *sql, int size, sqlite3_stmt **out,
                              const char **tail);
int __real_sqlite3_create_function_v2(sqlite3 *db, const char *name, int n, int flags, void *data,
                                      step_function *call, step_function *step, end_function *end,
                                      void (*destroy)(void *));
#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* no header declares __wrap_X */

int __wrap_sqlite3_open_v2(const char *uri, sqlite3 **out, int flags, const char *vfs) {
    (void)uri;
    (void)flags;
    (void)vfs;
    *out = memory;
    return SQLITE_OK;
}

int __wrap_sqlite3_close(sqlite3 *db) {
    require(db == memory);
    return SQLITE_OK;
}

static void *data_of_function; /* `data` of the last call of sqlite3_create_function_v2 */

/* Registers the function once. If it were registered again, SQLite would parse statements again. */
int __wrap_sqlite3_create_function_v2(sqlite3 *db, const char *name, int n, int flags, void *data,
                                      step_function *call, step_function *step, end_function *end,
                                      void (*destroy)(void *)) {
    static bool known;
    data_of_function = data;
    if (known)
        return SQLITE_OK;
    known = true;
    return __real_sqlite3_create_function_v2(db, name, n, flags, NULL, call, step, end, destroy);
}

void *__wrap_sqlite3_user_data(sqlite3_context *context) {
    (void)context;
    return data_of_function;
}

enum { STATEMENTS_MAX = 512 }; /* larger than the number of a reader's statements */
static struct {
    uint64_t key; /* hash of the statement's text */
    sqlite3_stmt *statement;
    bool in_use;
} statements[STATEMENTS_MAX];
static size_t n_statements;

int __wrap_sqlite3_prepare_v2(sqlite3 *db, const char *sql, int size, sqlite3_stmt **out,
                              const char **tail) {
    const uint64_t key = tm_hash(TM_HASH_BEGIN, sql, strlen(sql));
    for (size_t i = 0; i < n_statements; i++)
        if (statements[i].key == key && !statements[i].in_use) {
            statements[i].in_use = true;
            *out = statements[i].statement;
            return SQLITE_OK;
        }
    int code = __real_sqlite3_prepare_v2(db, sql, size, out, tail);
    if (code == SQLITE_OK && *out) {
        require(n_statements < STATEMENTS_MAX);
        statements[n_statements].key = key;
        statements[n_statements].statement = *out;
        statements[n_statements++].in_use = true;
    }
    return code;
}

int __wrap_sqlite3_finalize(sqlite3_stmt *statement) {
    for (size_t i = 0; i < n_statements; i++)
        if (statements[i].statement == statement)
            statements[i].in_use = false;
    (void)sqlite3_clear_bindings(statement);
    return sqlite3_reset(statement);
}

/* A cell of a table, with statements to read and to set it, and to copy and to delete its row. */
typedef struct cell {
    sqlite3_int64 row;
    sqlite3_stmt *get, *set, *copy, *drop;
} cell;

static tm_vec cells = TM_VEC(cell);

static sqlite3_stmt *prepare(char *sql) {
    sqlite3_stmt *statement = NULL;
    require(sql && __real_sqlite3_prepare_v2(memory, sql, -1, &statement, NULL) == SQLITE_OK);
    sqlite3_free(sql);
    return statement;
}

static void add_column(const char *table, const char *column, cell c) {
    sqlite3_stmt *rows = prepare(sqlite3_mprintf("SELECT rowid FROM \"%w\"", table));
    c.get = prepare(sqlite3_mprintf("SELECT \"%w\" FROM \"%w\" WHERE rowid = ?1", column, table));
    c.set = prepare(
        sqlite3_mprintf("UPDATE OR IGNORE \"%w\" SET \"%w\" = ?2 WHERE rowid = ?1", table, column));
    while (sqlite3_step(rows) == SQLITE_ROW) {
        c.row = sqlite3_column_int64(rows, 0);
        require(tm_vec_append(&cells, &c, 1) != NULL);
    }
    (void)__real_sqlite3_finalize(rows);
}

/* Adds the cells of a table. Rows are copied without primary key, so that copies get new ones. */
static void add_table(const char *table) {
    sqlite3_stmt *columns =
        prepare(sqlite3_mprintf("SELECT group_concat('\"' || name || '\"') FILTER (WHERE pk = 0) "
                                "OVER (), name FROM pragma_table_info(%Q)",
                                table));
    cell c = {.drop = prepare(sqlite3_mprintf("DELETE FROM \"%w\" WHERE rowid = ?1", table))};
    while (sqlite3_step(columns) == SQLITE_ROW) {
        const char *others = (const char *)sqlite3_column_text(columns, 0);
        if (others && !c.copy)
            c.copy = prepare(sqlite3_mprintf(
                "INSERT OR IGNORE INTO \"%w\" (%s) SELECT %s FROM \"%w\" WHERE rowid = ?1", table,
                others, others, table));
        add_column(table, (const char *)sqlite3_column_text(columns, 1), c);
    }
    (void)__real_sqlite3_finalize(columns);
}

/* SQLite uses the C library's allocator, because the sanitizer's is slower and would only find
 * errors in SQLite itself. Each block is preceded by its size. */
enum { SIZE_BYTES = 16 };
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);

static void *resize(void *block, int size) {
    char *whole =
        __libc_realloc(block ? (char *)block - SIZE_BYTES : NULL, (size_t)size + SIZE_BYTES);
    if (!whole)
        return NULL;
    memcpy(whole, &size, sizeof size);
    return whole + SIZE_BYTES;
}

static void *allocate(int size) {
    return resize(NULL, size);
}

static void release(void *block) {
    __libc_free(block ? (char *)block - SIZE_BYTES : NULL);
}

static int size_of(void *block) {
    int size;
    memcpy(&size, (char *)block - SIZE_BYTES, sizeof size);
    return size;
}

static int round_up(int size) {
    return (size + 7) & ~7;
}

static int start(void *data) {
    (void)data;
    return SQLITE_OK;
}

static void stop(void *data) {
    (void)data;
}

static void load(void) {
    static const sqlite3_mem_methods own = {allocate, release, resize, size_of,
                                            round_up, start,   stop,   NULL};
    sqlite3 *file;
    require(sqlite3_config(SQLITE_CONFIG_MALLOC, &own) == SQLITE_OK);
    require(sqlite3_config(SQLITE_CONFIG_SINGLETHREAD) == SQLITE_OK);
    require(sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK);
    require(sqlite3_open(":memory:", &memory) == SQLITE_OK);
    require(sqlite3_open(CELLS_DATABASE, &file) == SQLITE_OK);
    sqlite3_backup *backup = sqlite3_backup_init(memory, "main", file, "main");
    require(backup && sqlite3_backup_step(backup, -1) == SQLITE_DONE);
    require(sqlite3_backup_finish(backup) == SQLITE_OK);
    (void)__real_sqlite3_close(file);
    sqlite3_stmt *tables =
        prepare(sqlite3_mprintf("SELECT name FROM sqlite_schema WHERE type = 'table'"));
    while (sqlite3_step(tables) == SQLITE_ROW)
        add_table((const char *)sqlite3_column_text(tables, 0));
    (void)__real_sqlite3_finalize(tables);
    require(cells.n > 0);
}

typedef struct input {
    const uint8_t *data;
    size_t size;
} input;

/* Takes @p n bytes of the input. If fewer are left, the missing ones are 0. */
static void take(input *in, void *out, size_t n) {
    size_t have = n < in->size ? n : in->size;
    memset(out, 0, n);
    memcpy(out, in->data, have);
    in->data += have;
    in->size -= have;
}

static void run_statement(sqlite3_stmt *statement, sqlite3_int64 row) {
    (void)sqlite3_bind_int64(statement, 1, row);
    (void)sqlite3_step(statement); /* a constraint may forbid the change */
    (void)sqlite3_reset(statement);
}

static const cell *take_cell(input *in) {
    uint16_t number;
    take(in, &number, sizeof number);
    return (const cell *)cells.data + number % cells.n;
}

/* Prepares to set a cell to @p value or, if @p add is set, to its old value plus @p value. */
static void set_integer(const cell *c, int64_t value, bool add) {
    (void)sqlite3_bind_int64(c->get, 1, c->row);
    if (add && sqlite3_step(c->get) == SQLITE_ROW)
        value = (int64_t)((uint64_t)sqlite3_column_int64(c->get, 0) + (uint64_t)value);
    (void)sqlite3_reset(c->get);
    (void)sqlite3_bind_int64(c->set, 2, value);
}

static void set_value_of(const cell *c, const cell *other) {
    (void)sqlite3_bind_int64(other->get, 1, other->row);
    if (sqlite3_step(other->get) == SQLITE_ROW)
        (void)sqlite3_bind_value(c->set, 2, sqlite3_column_value(other->get, 0));
    (void)sqlite3_reset(other->get);
}

static void change(input *in) {
    enum { INTEGER, ADD, SMALL, ADD_SMALL, TEXT, REAL, NOTHING, COPY_CELL, COPY_ROW, DROP_ROW, N };
    uint8_t what, size;
    int8_t small;
    int64_t integer;
    double real;
    char text[32];
    take(in, &what, sizeof what);
    const cell *c = take_cell(in);
    switch (what % N) {
    case INTEGER:
    case ADD:
        take(in, &integer, sizeof integer);
        set_integer(c, integer, what % N == ADD);
        break;
    case SMALL:
    case ADD_SMALL:
        take(in, &small, sizeof small);
        set_integer(c, small, what % N == ADD_SMALL);
        break;
    case TEXT:
        take(in, &size, sizeof size);
        take(in, text, size % sizeof text);
        (void)sqlite3_bind_text(c->set, 2, text, size % (int)sizeof text, SQLITE_TRANSIENT);
        break;
    case REAL:
        take(in, &real, sizeof real);
        (void)sqlite3_bind_double(c->set, 2, real);
        break;
    case NOTHING:
        (void)sqlite3_bind_null(c->set, 2);
        break;
    case COPY_CELL:
        set_value_of(c, take_cell(in));
        break;
    case COPY_ROW:
        run_statement(c->copy, c->row);
        return;
    default:
        run_statement(c->drop, c->row);
        return;
    }
    run_statement(c->set, c->row);
}

/* Checks from time to time that all changes were undone. Otherwise all later runs could fail early
 * and test nothing. */
static void check_database(void) {
    enum { EVERY = 1000 };
    static unsigned char *first;
    static unsigned runs;
    sqlite3_int64 size;
    if (runs++ % EVERY != 0)
        return;
    unsigned char *now = sqlite3_serialize(memory, "main", &size, 0);
    require(now && (!first || memcmp(first, now, (size_t)size) == 0));
    sqlite3_free(first);
    first = now;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static sqlite3_stmt *begin, *rollback;
    if (!memory) {
        load();
        begin = prepare(sqlite3_mprintf("BEGIN"));
        rollback = prepare(sqlite3_mprintf("ROLLBACK"));
    }
    check_database();
    for (input in = {data, size}; in.size > 0;) {
        /* SQLite ends the transaction and undoes all changes when no row number is left. */
        if (sqlite3_get_autocommit(memory))
            run_statement(begin, 0);
        change(&in);
    }
    read_database(CELLS_DATABASE, &CELLS_FORMAT);
    run_statement(rollback, 0);
    return 0;
}
