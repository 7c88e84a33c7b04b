#include "sql/sql_source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "table/renamed.h"

/* Compares a row with the row before it. Returns the first column c in which they differ, or @p n
 * if they are equal. If the later row is smaller in column c, returns -c - 1 instead. Null is
 * larger than any value. */
static int differs_at(const tm_cell *before, const tm_cell *row, int n) {
    for (int c = 0; c < n; c++) {
        bool both = !before[c].null && !row[c].null;
        if (both ? before[c].value.i == row[c].value.i : before[c].null == row[c].null)
            continue;
        bool smaller = both ? row[c].value.i < before[c].value.i : before[c].null;
        return smaller ? -c - 1 : c;
    }
    return n;
}

/* Returns the number of leading integer keys by which the rows are sorted. Most tables are sorted
 * by all of their integer keys, but some tables are sorted by importance. */
static int count_sorted(const tm_table *table) {
    int n = 0;
    while (n < table->def->n_keys && n < TM_SQL_KEYS_MAX && table->def->columns[n].type == TM_INT)
        n++;
    for (size_t r = 1; r < table->n_rows && n > 0; r++) {
        int at = differs_at(tm_table_row(table, r - 1), tm_table_row(table, r), n);
        n = at < 0 ? -at - 1 : n;
    }
    return n;
}

const tm_table *tm_sql_table(tm_sql_source *source, size_t table) {
    tm_table *rows = &source->tables.tables[table];
    if (source->n_sorted[table] < 0) {
        if (tm_store_read_table(source->store, rows, &source->failed) != TM_OK)
            return NULL;
        source->n_sorted[table] = count_sorted(rows);
    }
    return rows;
}

const tm_names *tm_sql_names(tm_sql_source *source) {
    if (!source->names &&
        tm_store_read_names(source->store, &source->names, &source->failed) != TM_OK)
        source->names = NULL;
    return source->names;
}

static const char *declared(tm_type type) {
    return type == TM_TEXT ? "TEXT" : type == TM_REAL ? "REAL" : "INTEGER";
}

char *tm_sql_definition(const char *name, const tm_table_def *def, const char *first) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "CREATE TABLE %s(", name);
    for (int c = 0; c < def->n_columns; c++)
        sqlite3_str_appendf(text, "%s\"%w\" %s%s", c == 0 ? "" : ", ", def->columns[c].name,
                            declared(def->columns[c].type), c == 0 ? first : "");
    const tm_former_column *former = NULL;
    for (int i = 0; (former = tm_former_column_of(def, i)); i++)
        sqlite3_str_appendf(text, ", \"%w\" HIDDEN", former->was); /* not in SELECT * */
    sqlite3_str_appendall(text, ")");
    return sqlite3_str_finish(text);
}

int tm_sql_declare(sqlite3 *db, const tm_table_def *def) {
    char *sql = tm_sql_definition("x", def, "");
    int code = sql ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return code == SQLITE_OK ? sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY) : code;
}

static bool is_ascii(tm_text text) {
    for (size_t i = 0; i < text.size; i++)
        if ((unsigned char)(text.bytes[i] - 1) >= 0x7f)
            return false;
    return true;
}

void tm_sql_result_text(sqlite3_context *out, tm_text text) {
    if (is_ascii(text)) {
        sqlite3_result_text64(out, text.bytes, text.size, SQLITE_STATIC, SQLITE_UTF8);
        return;
    }
    char *repaired = sqlite3_malloc64(tm_utf8_repair(text.bytes, text.size, NULL) + 1);
    if (!repaired) {
        sqlite3_result_error_nomem(out);
        return;
    }
    size_t size = tm_utf8_repair(text.bytes, text.size, repaired);
    sqlite3_result_text64(out, repaired, size, sqlite3_free, SQLITE_UTF8);
}

/* Rounds a lower limit down, so that no value is lost. */
static int64_t below(double value) {
    return value <= -9.2e18  ? INT64_MIN
           : value >= 9.2e18 ? INT64_C(9200000000000000000)
                             : (int64_t)floor(value);
}

static int64_t above(double value) {
    return value >= 9.2e18    ? INT64_MAX
           : value <= -9.2e18 ? -INT64_C(9200000000000000000)
                              : (int64_t)ceil(value);
}

/* Narrows a range by a constraint. Null makes the range empty, because no comparison with null is
 * true. A value that is not a number changes nothing, because SQLite checks every row again.
 * @param op  SQLITE_INDEX_CONSTRAINT_... */
static void narrow(tm_sql_range *range, int op, sqlite3_value *value) {
    int type = sqlite3_value_type(value);
    if (type == SQLITE_NULL)
        *range = (tm_sql_range){INT64_MAX, INT64_MIN};
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
        return;
    bool whole = type == SQLITE_INTEGER;
    int64_t low = whole ? sqlite3_value_int64(value) : below(sqlite3_value_double(value));
    int64_t high = whole ? low : above(sqlite3_value_double(value));
    bool equal = op == SQLITE_INDEX_CONSTRAINT_EQ;
    if ((equal || op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_GT) &&
        low > range->least)
        range->least = low;
    if ((equal || op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_LT) &&
        high < range->most)
        range->most = high;
}

/* Letters that stand for operators in the text of a plan. */
static const struct {
    int op;
    char letter;
} operators[] = {{SQLITE_INDEX_CONSTRAINT_EQ, '='},
                 {SQLITE_INDEX_CONSTRAINT_GT, '>'},
                 {SQLITE_INDEX_CONSTRAINT_GE, 'g'},
                 {SQLITE_INDEX_CONSTRAINT_LT, '<'},
                 {SQLITE_INDEX_CONSTRAINT_LE, 'l'}};
enum { N_OPERATORS = sizeof operators / sizeof *operators };

static char letter_of(int op) {
    for (int i = 0; i < N_OPERATORS; i++)
        if (operators[i].op == op)
            return operators[i].letter;
    return '\0';
}

static int place_of(const int *columns, int n, int column) {
    int place = 0;
    while (place < n && columns[place] != column)
        place++;
    return place;
}

int tm_sql_plan(sqlite3_index_info *info, const int *columns, int n, int *n_equal, int *n_other) {
    char *plan = sqlite3_malloc(2 * info->nConstraint + 1), *at = plan;
    int n_values = 0;
    if (!plan)
        return SQLITE_NOMEM;
    memset(n_equal, 0, (size_t)n * sizeof *n_equal);
    memset(n_other, 0, (size_t)n * sizeof *n_other);
    for (int i = 0; i < info->nConstraint; i++) {
        int place = place_of(columns, n, info->aConstraint[i].iColumn);
        char letter = letter_of(info->aConstraint[i].op);
        if (!info->aConstraint[i].usable || place == n || letter == '\0')
            continue;
        *at++ = (char)('a' + place);
        *at++ = letter;
        info->aConstraintUsage[i].argvIndex = ++n_values;
        (letter == '=' ? n_equal : n_other)[place]++;
    }
    *at = '\0';
    info->idxStr = plan;
    info->needToFreeIdxStr = 1;
    return SQLITE_OK;
}

void tm_sql_ranges(const char *plan, int n_values, sqlite3_value **values, tm_sql_range *ranges) {
    for (int v = 0; plan && v < n_values; v++, plan += 2)
        for (int i = 0; i < N_OPERATORS; i++)
            if (operators[i].letter == plan[1])
                narrow(&ranges[plan[0] - 'a'], operators[i].op, values[v]);
}
