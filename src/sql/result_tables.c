/* Result tables as SQLite virtual tables. */
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "sql/sql_source.h"
#include "table/renamed.h"

/* Entry of the index by text: a row, and the value of its first text column. */
typedef struct entry {
    const char *text;
    size_t row;
} entry;

typedef struct table {
    sqlite3_vtab base; /* SQLite requires this member to be the first */
    tm_sql_source *source;
    size_t at;      /* index among the source's tables */
    entry *by_text; /* owned; sorted by text, then by row; NULL before the first search by text */
    size_t n_texts; /* Number of entries. Rows with a null text have no entry, because null equals
                       nothing. */
} table;

/* Ways of finding rows, which best_index chooses and filter executes. */
enum { BY_KEYS, BY_TEXT };

typedef struct cursor {
    sqlite3_vtab_cursor base;
    const tm_table *rows;
    const entry *by_text; /* NULL: row and end are row numbers; otherwise they are indices into
                             by_text */
    size_t row, end;
} cursor;

static size_t row_of(const cursor *c) {
    return c->by_text ? c->by_text[c->row].row : c->row;
}

static int connect_table(sqlite3 *db, void *aux, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **message) {
    (void)message;
    table *made = sqlite3_malloc(sizeof *made);
    if (!made)
        return SQLITE_NOMEM;
    *made = (table){.source = aux, .at = argc > 3 ? (size_t)strtoul(argv[3], NULL, 10) : 0};
    int code = tm_sql_declare(db, made->source->tables.tables[made->at].def);
    if (code != SQLITE_OK)
        sqlite3_free(made);
    else
        *out = &made->base;
    return code;
}

static int disconnect(sqlite3_vtab *made) {
    sqlite3_free(((table *)made)->by_text);
    sqlite3_free(made);
    return SQLITE_OK;
}

/* Lists the leading integer keys, by which the rows of most tables are sorted. */
static int keys_of(const tm_table_def *def, int columns[TM_SQL_KEYS_MAX]) {
    int n = 0;
    while (n < def->n_keys && n < TM_SQL_KEYS_MAX && def->columns[n].type == TM_INT) {
        columns[n] = n;
        n++;
    }
    return n;
}

/* Returns the index of the first text column, or -1 if there is none. In most tables, this column
 * is a name. */
static int text_of(const tm_table_def *def) {
    int c = 0;
    while (c < def->n_columns && def->columns[c].type != TM_TEXT)
        c++;
    return c < def->n_columns ? c : -1;
}

/* If the query requires the text to equal a value, makes SQLite pass this value after the plan's
 * other values, and returns true. */
static bool plan_text(sqlite3_index_info *info, int text_column) {
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        if (!c->usable || c->iColumn != text_column || c->op != SQLITE_INDEX_CONSTRAINT_EQ ||
            sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
            continue;
        info->aConstraintUsage[i].argvIndex = (int)strlen(info->idxStr) / 2 + 1;
        info->idxNum = BY_TEXT;
        return true;
    }
    return false;
}

/* Chooses a plan. Assumes that a condition on a key leaves a tenth of the rows. */
static int best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
    const table *t = (const table *)base;
    const tm_table_def *def = t->source->tables.tables[t->at].def;
    int columns[TM_SQL_KEYS_MAX], n_equal[TM_SQL_KEYS_MAX], n_other[TM_SQL_KEYS_MAX],
        n = keys_of(def, columns);
    size_t n_rows = 0;
    tm_error ignored;
    if (tm_store_table_rows(t->source->store, def->name, &n_rows, &ignored) != TM_OK)
        n_rows = 1;
    double left = (double)n_rows + 1.0;
    int code = tm_sql_plan(info, columns, n, n_equal, n_other);
    for (int k = 0; k < n && code == SQLITE_OK && n_equal[k] > 0; k++)
        left /= 10.0;
    if (code == SQLITE_OK && (n == 0 || n_equal[0] == 0) && plan_text(info, text_of(def)))
        left = 2.0 + left / 100.0;
    info->estimatedCost = left;
    info->estimatedRows = (sqlite3_int64)left + 1;
    return code;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    (void)base;
    cursor *c = sqlite3_malloc(sizeof *c);
    if (!c)
        return SQLITE_NOMEM;
    *c = (cursor){.rows = NULL};
    *out = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base) {
    sqlite3_free(base);
    return SQLITE_OK;
}

/* A position among the rows: before the rows whose keys are in the ranges or, if `after` is set,
 * after them. */
typedef struct border {
    const tm_sql_range *ranges;
    int n_keys;
    bool after;
} border;

/* Nulls come last. */
static bool is_before(const void *element, const void *key) {
    const tm_cell *row = element;
    const border *b = key;
    for (int k = 0; k < b->n_keys; k++) {
        const tm_sql_range *r = &b->ranges[k];
        if (row[k].null || row[k].value.i > r->most)
            return false;
        if (row[k].value.i < r->least)
            return true;
        if (r->least != r->most)
            return b->after;
    }
    return b->after;
}

static size_t bisect(const tm_table *rows, const border *b) {
    return tm_bisect(rows->cells, rows->n_rows, (size_t)rows->def->n_columns * sizeof *rows->cells,
                     b, is_before);
}

static int order_entries(const void *a, const void *b) {
    const entry *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : tm_order_u64(x->row, y->row);
}

static bool is_text_before(const void *element, const void *key) {
    return strcmp(((const entry *)element)->text, key) < 0;
}

static bool is_text_up_to(const void *element, const void *key) {
    return strcmp(((const entry *)element)->text, key) <= 0;
}

/* Makes the index by text, when rows are searched by text for the first time. */
static int sort_texts(table *t, const tm_table *rows) {
    int text_column = text_of(rows->def);
    if (t->by_text)
        return SQLITE_OK;
    t->by_text = sqlite3_malloc64((rows->n_rows + 1) * sizeof *t->by_text);
    if (!t->by_text)
        return SQLITE_NOMEM;
    for (size_t i = 0; i < rows->n_rows; i++) {
        const tm_cell *cell = &tm_table_row(rows, i)[text_column];
        if (!cell->null)
            t->by_text[t->n_texts++] = (entry){cell->value.text, i};
    }
    tm_sort(t->by_text, t->n_texts, sizeof *t->by_text, order_entries);
    return SQLITE_OK;
}

/* Finds the rows that have a text, by bisection. If SQLite may have to convert the value first,
 * selects all rows, because SQLite checks them again. */
static int find_text(cursor *c, table *t, sqlite3_value *value) {
    c->row = 0;
    c->end = c->rows->n_rows;
    if (sqlite3_value_type(value) != SQLITE_TEXT)
        return SQLITE_OK;
    int code = sort_texts(t, c->rows);
    const char *text = (const char *)sqlite3_value_text(value);
    if (code != SQLITE_OK || !text)
        return SQLITE_NOMEM;
    c->by_text = t->by_text;
    c->row = tm_bisect(t->by_text, t->n_texts, sizeof *t->by_text, text, is_text_before);
    c->end = tm_bisect(t->by_text, t->n_texts, sizeof *t->by_text, text, is_text_up_to);
    return SQLITE_OK;
}

/* Finds the rows of a plan. The rows are adjacent if some leading keys have one value each and the
 * next key has a range. A table of one row may have null keys. */
static int filter(sqlite3_vtab_cursor *base, int number, const char *plan, int n_values,
                  sqlite3_value **values) {
    cursor *c = (cursor *)base;
    table *t = (table *)base->pVtab;
    int columns[TM_SQL_KEYS_MAX];
    tm_sql_range ranges[TM_SQL_KEYS_MAX];
    c->rows = tm_sql_table(t->source, t->at);
    c->by_text = NULL;
    if (!c->rows)
        return SQLITE_IOERR;
    if (number == BY_TEXT)
        return find_text(c, t, values[n_values - 1]);
    int n = keys_of(c->rows->def, columns), used = 0, n_sorted = t->source->n_sorted[t->at];
    for (int k = 0; k < n; k++)
        ranges[k] = (tm_sql_range){INT64_MIN, INT64_MAX};
    tm_sql_ranges(plan, n_values, values, ranges);
    while (used < n_sorted && ranges[used].least == ranges[used].most)
        used++;
    if (used < n_sorted && (ranges[used].least > INT64_MIN || ranges[used].most < INT64_MAX))
        used++;
    c->row = 0;
    c->end = c->rows->n_rows;
    if (used > 0) {
        c->row = bisect(c->rows, &(border){ranges, used, false});
        c->end = bisect(c->rows, &(border){ranges, used, true});
    }
    return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base) {
    ((cursor *)base)->row++;
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base) {
    const cursor *c = (const cursor *)base;
    return c->row >= c->end;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *out, int at) {
    const cursor *c = (const cursor *)base;
    /* A hidden column is a column under its former name. */
    if (at >= c->rows->def->n_columns)
        at = tm_table_column(
            c->rows->def, tm_former_column_of(c->rows->def, at - c->rows->def->n_columns)->column);
    const tm_cell *cell = &tm_table_row(c->rows, row_of(c))[at];
    if (cell->null)
        sqlite3_result_null(out);
    else if (c->rows->def->columns[at].type == TM_TEXT)
        sqlite3_result_text(out, cell->value.text, -1, SQLITE_STATIC);
    else if (c->rows->def->columns[at].type == TM_REAL)
        sqlite3_result_double(out, cell->value.r);
    else
        sqlite3_result_int64(out, cell->value.i);
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *out) {
    *out = (sqlite3_int64)row_of((const cursor *)base);
    return SQLITE_OK;
}

const sqlite3_module tm_sql_table_module = {
    .xCreate = connect_table,
    .xConnect = connect_table,
    .xBestIndex = best_index,
    .xDisconnect = disconnect,
    .xDestroy = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = is_at_end,
    .xColumn = column,
    .xRowid = row_id,
};
