#include "tmerge/table.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "table/renamed.h"
#include "table/rows.h"

/* Used in place of a table or column whose name does not exist. Such a bug fails an assert in
 * tests. Without asserts, only this dummy is read or written. */
static const tm_cell no_cell = {.null = true};
static const tm_column no_column = {.name = "", .type = TM_INT, .unit = "", .doc = ""};
static const tm_table_def no_table = {
    .name = "", .doc = "", .columns = &no_column, .n_columns = 1, .top = -1, .internal = true};

const char *tm_type_name(tm_type type) {
    static const char *const names[] = {
        [TM_INT] = "int", [TM_REAL] = "real", [TM_TEXT] = "text", [TM_BOOL] = "bool"};
    return names[type];
}

tm_status tm_tables_create(const tm_table_def *const *defs, size_t n_defs, tm_tables *out,
                           tm_error *err) {
    tm_table *tables = calloc(n_defs + 1, sizeof *tables);
    const char **names = calloc(n_defs + 1, sizeof *names);
    if (!tables || !names) {
        free(tables);
        free(names);
        return tm_fail_memory(err);
    }
    for (size_t t = 0; t < n_defs; t++) {
        const tm_table_def *def = defs[t];
        assert(def->n_columns > 0 && def->n_keys >= 0 && def->n_keys <= def->n_columns);
        assert(def->top < def->n_columns);
        tables[t].def = def;
        names[t] = def->name;
    }
    tables[n_defs].def = &no_table;
    *out = (tm_tables){.tables = tables, .n_tables = n_defs, .names = names};
    return TM_OK;
}

/* Storage of text cells. The same few words repeat, so recent texts are found by hash and stored
 * once. */
enum { N_RECENT = 128 };

struct tm_texts {
    tm_arena arena;
    struct {
        const char *text; /* NULL: none */
        size_t size;
    } recent[N_RECENT];
};

/* Frees all texts of a table, including those of rows that were removed. */
static void free_texts(tm_table *table) {
    if (table->texts)
        tm_arena_free(&table->texts->arena);
    free(table->texts);
    table->texts = NULL;
}

void tm_table_clear(tm_table *table) {
    const tm_table_def *def = table->def;
    free_texts(table);
    free(table->cells);
    if (table->compressed)
        tm_vec_free(table->compressed);
    free(table->compressed);
    *table = (tm_table){.def = def};
}

void tm_table_clear_rows(tm_table *table) {
    free_texts(table);
    table->n_rows = 0;
}

void tm_tables_destroy(tm_tables *tables) {
    if (!tables)
        return;
    for (size_t t = 0; t < tables->n_tables; t++)
        tm_table_clear(&tables->tables[t]);
    free(tables->tables);
    free(tables->names);
    *tables = (tm_tables){0};
}

bool tm_table_is_named(const tm_table_def *def, const char *text) {
    const char *name = def->name;
    while (*name != '\0' && (*text == *name || (*text == '_' && *name == '.'))) {
        text++;
        name++;
    }
    return *name == *text;
}

bool tm_table_is_meant(const tm_table_def *def, const char *text) {
    const tm_renamed *renamed = tm_renamed_find(text);
    text = renamed ? renamed->now : text;
    size_t size = strlen(text);
    return tm_table_is_named(def, text) ||
           (strncmp(def->name, text, size) == 0 && def->name[size] == '.');
}

const char *tm_table_split(const char *name, char table[TM_TABLE_NAME]) {
    const char *dot = strrchr(name, '.');
    if (!dot || dot - name >= TM_TABLE_NAME)
        return NULL;
    memcpy(table, name, (size_t)(dot - name));
    table[dot - name] = '\0';
    return dot + 1;
}

tm_table *tm_tables_look_up(const tm_tables *tables, const char *name) {
    for (size_t t = 0; t < tables->n_tables; t++)
        if (tm_table_is_named(tables->tables[t].def, name))
            return &tables->tables[t];
    return NULL;
}

/* First compares only the addresses of the names. This is fast and usually succeeds, because
 * callers pass the name in the definition. Speed matters, because about a hundred tables are looked
 * up for each rank. */
tm_table *tm_tables_find(const tm_tables *tables, const char *table) {
    size_t t = 0;
    while (t < tables->n_tables && tables->names[t] != table)
        t++;
    tm_table *found = t < tables->n_tables ? &tables->tables[t] : tm_tables_look_up(tables, table);
    assert(found);
    tm_error unused;
    if (found && found->rests)
        found->lost = tm_table_take_back(found, &unused) != TM_OK;
    return found ? found : &tables->tables[tables->n_tables];
}

tm_status tm_tables_whole(const tm_tables *tables, tm_error *err) {
    for (size_t t = 0; t < tables->n_tables; t++)
        if (tables->tables[t].lost)
            return tm_fail_memory(err);
    return TM_OK;
}

const tm_cell *tm_table_cell(const tm_table *table, size_t row, const char *column) {
    int at = tm_table_column(table->def, column);
    assert(at >= 0);
    return at >= 0 ? &tm_table_row(table, row)[at] : &no_cell;
}

const tm_column *tm_column_of(const tm_table_def *def, const char *column) {
    int at = tm_table_column(def, column);
    assert(at >= 0);
    return at >= 0 ? &def->columns[at] : &no_column;
}

const char tm_epoch_ns[] = "ns";

bool tm_column_is_epoch(const tm_column *column) {
    return column->unit == tm_epoch_ns;
}

int tm_table_column(const tm_table_def *def, const char *column) {
    for (int c = 0; c < def->n_columns; c++) /* as in tm_tables_find */
        if (def->columns[c].name == column)
            return c;
    for (int c = 0; c < def->n_columns; c++)
        if (strcmp(def->columns[c].name, column) == 0)
            return c;
    const tm_former_column *former = NULL;
    for (int i = 0; (former = tm_former_column_of(def, i)); i++)
        if (strcmp(former->was, column) == 0)
            return tm_table_column(def, former->column);
    return -1;
}

bool tm_rows_reserve(tm_table *table, size_t n_rows) {
    if (n_rows <= table->capacity)
        return true;
    if (table->def == &no_table)
        return false;
    size_t row_bytes = tm_rows_width(table) * sizeof(tm_cell);
    enum { SMALL_BYTES = 1 << 22 }; /* as in tm_vec_reserve */
    bool small = table->capacity * row_bytes < SMALL_BYTES;
    size_t capacity = table->capacity + table->capacity / (small ? 1 : 2);
    if (capacity < n_rows)
        capacity = n_rows < 8 ? 8 : n_rows;
    if (capacity > SIZE_MAX / row_bytes)
        return false;
    tm_cell *cells = realloc(table->cells, capacity * row_bytes);
    if (!cells)
        return false;
    table->cells = cells;
    table->capacity = capacity;
    return true;
}

tm_cell *tm_table_add_row(tm_table *table) {
    if (!tm_rows_reserve(table, table->n_rows + 1))
        return NULL;
    tm_cell *row = tm_table_row(table, table->n_rows++);
    for (size_t c = 0; c < tm_rows_width(table); c++)
        row[c] = (tm_cell){.value.i = 0, .null = true};
    return row;
}

tm_cell *tm_table_row(const tm_table *table, size_t row) {
    return table->cells + row * tm_rows_width(table);
}

void tm_cell_set_int(tm_cell *cell, int64_t value) {
    *cell = (tm_cell){.value.i = value};
}

void tm_cell_set_bool(tm_cell *cell, bool value) {
    *cell = (tm_cell){.value.i = value};
}

void tm_cell_set_known(tm_cell *cell, int64_t value) {
    if (value >= 0)
        tm_cell_set_int(cell, value);
}

void tm_cell_set_real(tm_cell *cell, double value) {
    if (isfinite(value))
        *cell = (tm_cell){.value.r = value};
    else
        *cell = (tm_cell){.null = true};
}

void tm_cell_set_ratio(tm_cell *cell, double scale, int64_t numerator, int64_t denominator) {
    /* Multiplies first: 100 * 7 / 100 is exactly 7, but 7 / 100 * 100 is not. */
    if (denominator == 0)
        *cell = (tm_cell){.null = true};
    else
        tm_cell_set_real(cell, scale * (double)numerator / (double)denominator);
}

tm_status tm_table_set_text(tm_table *table, tm_cell *cell, const char *text, tm_error *err) {
    if (text)
        return tm_table_set_bytes(table, cell, text, strlen(text), err);
    *cell = (tm_cell){.null = true};
    return TM_OK;
}

/* Returns the slot of a text in the cache. If the slot has another text, that text moves to the
 * neighbouring slot when this text is stored. */
static size_t place_of(const char *bytes, size_t size) {
    uint64_t words[3] = {size, 0, 0};
    size_t n = size < sizeof *words ? size : sizeof *words;
    if (n > 0) {
        memcpy(&words[1], bytes, n);
        memcpy(&words[2], bytes + size - n, n);
    }
    return (size_t)(tm_hash_words(0, words, 3) % N_RECENT);
}

static bool is_at(const struct tm_texts *texts, size_t at, const char *bytes, size_t size) {
    return texts->recent[at].text && texts->recent[at].size == size &&
           memcmp(texts->recent[at].text, bytes, size) == 0;
}

tm_status tm_table_set_bytes(tm_table *table, tm_cell *cell, const char *bytes, size_t size,
                             tm_error *err) {
    assert(table->def->columns[(cell - table->cells) % table->def->n_columns].type == TM_TEXT);
    if (!table->texts)
        table->texts = calloc(1, sizeof *table->texts);
    struct tm_texts *texts = table->texts;
    if (!texts || size >= SIZE_MAX / 4)
        return tm_fail_memory(err);
    size_t at = place_of(bytes, size);
    bool known = is_at(texts, at, bytes, size);
    if (!known && is_at(texts, at ^ 1, bytes, size)) {
        at ^= 1;
        known = true;
    }
    if (!known) {
        size_t repaired = tm_utf8_repair(bytes, size, NULL);
        char *copy = tm_arena_alloc(&texts->arena, repaired + 1);
        if (!copy)
            return tm_fail_memory(err);
        tm_utf8_repair(bytes, size, copy);
        texts->recent[at ^ 1] = texts->recent[at];
        texts->recent[at].text = copy;
        texts->recent[at].size = repaired; /* The size of the stored text, not of the given bytes.
                                              So bytes that need repair are never found here. */
    }
    *cell = (tm_cell){.value.text = texts->recent[at].text};
    return TM_OK;
}

void tm_table_filter(tm_table *table, bool (*keep)(const tm_table *, const tm_cell *row, void *),
                     void *context) {
    size_t n = 0;
    for (size_t r = 0; r < table->n_rows; r++) {
        const tm_cell *row = tm_table_row(table, r);
        if (!keep(table, row, context))
            continue;
        if (n < r)
            memcpy(tm_table_row(table, n), row, tm_rows_width(table) * sizeof *row);
        n++;
    }
    table->n_rows = n;
    if (n < table->capacity / 2)
        tm_table_trim(table);
}

void tm_table_trim(tm_table *table) {
    size_t row_bytes = tm_rows_width(table) * sizeof(tm_cell);
    tm_cell *cells = table->n_rows + 1 < table->capacity
                         ? realloc(table->cells, (table->n_rows + 1) * row_bytes)
                         : NULL;
    if (cells) {
        table->cells = cells;
        table->capacity = table->n_rows + 1;
    }
}
